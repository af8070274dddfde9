// The error types of SPEC.md "Errors", in its order, by our names.
import type { FailureType } from '../../../store/base/failure.ts';

interface SpecError {
  readonly status: number;
  /** Its name in the specification. */
  readonly name: string;
  readonly type: FailureType;
}

const error = (status: number, name: string, type: FailureType): SpecError => ({
  status,
  name,
  type,
});

export const SPEC_ERRORS: readonly SpecError[] = [
  error(400, 'Incorrect Values', 'IncorrectValues'),
  error(400, 'No Symbol', 'NoSymbol'),
  error(400, 'Type Required', 'TypeRequired'),
  error(401, 'Authorization Restricted', 'AuthorizationRestricted'),
  error(401, 'Authorization Required', 'AuthorizationRequired'),
  error(401, 'Restricted', 'Restricted'),
  error(401, 'No Key', 'NoKey'),
  error(401, 'Secret Key Required', 'SecretKeyRequired'),
  error(401, 'Denied Referer', 'DeniedReferer'),
  error(402, 'Over Limit', 'OverLimit'),
  error(402, 'Free tier not allowed', 'FreeTierNotAllowed'),
  error(402, 'Tier not allowed', 'TierNotAllowed'),
  error(403, 'Authorization Invalid', 'AuthorizationInvalid'),
  error(403, 'Disabled Key', 'DisabledKey'),
  error(403, 'Invalid Key', 'InvalidKey'),
  error(403, 'Test token in production', 'TestTokenInProduction'),
  error(403, 'Production token in sandbox', 'ProductionTokenInSandbox'),
  error(403, 'Circuit Breaker', 'CircuitBreaker'),
  error(403, 'Inactive', 'Inactive'),
  error(404, 'Unknown Symbol', 'UnknownSymbol'),
  error(404, 'Not Found', 'NotFound'),
  error(413, 'Max Types', 'MaxTypes'),
  error(429, 'Too many requests', 'TooManyRequests'),
  error(451, 'Enterprise Permission Required', 'EnterprisePermissionRequired'),
  error(500, 'System Error', 'SystemError'),
];
