{{- /* One name for all objects of a release: at most 52 characters, since a StatefulSet adds to it. */ -}}
{{- define "tapedeck.name" -}}
{{- if contains "tapedeck" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-tapedeck" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* What never changes: selectors and claims of volumes cannot be upgraded. */ -}}
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

{{- /* What a probe asks, by its path. */ -}}
{{- define "tapedeck.asked" -}}
port: api
{{- if .Values.tls.secretName }}
scheme: HTTPS
{{- end }}
{{- end -}}
