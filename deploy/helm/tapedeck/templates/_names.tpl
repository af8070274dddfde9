{{- /* Name of all objects of a release: at most 52 characters, because a StatefulSet adds a suffix. */ -}}
{{- define "tapedeck.name" -}}
{{- if contains "tapedeck" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-tapedeck" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Immutable labels: selectors and volume claims cannot be upgraded. */ -}}
{{- define "tapedeck.selector" -}}
app.kubernetes.io/name: tapedeck
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tapedeck.labels" -}}
{{ include "tapedeck.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* Port and scheme of a probe. */ -}}
{{- define "tapedeck.probe" -}}
port: api
{{- if .Values.tls.secretName }}
scheme: HTTPS
{{- end }}
{{- end -}}
