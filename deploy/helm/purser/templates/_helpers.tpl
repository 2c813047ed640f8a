{{- define "purser.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "purser.selector" -}}
app.kubernetes.io/name: purser
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "purser.labels" -}}
{{ include "purser.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "purser.secret" -}}
{{- .Values.secret.name | default (include "purser.name" .) -}}
{{- end -}}

{{- define "purser.account" -}}
{{- .Values.serviceAccount.name | default (include "purser.name" .) -}}
{{- end -}}

{{/* Roles that are not in a namespace have its name in theirs. */}}
{{- define "purser.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "purser.name" .) -}}
{{- end -}}

{{- define "purser.bundles" -}}
{{- .Values.config.bundles | default dict | toJson -}}
{{- end -}}
