/** The cluster answered, and the answer is no. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError'
  readonly status: number
  /** The cluster's own word for it: `AlreadyExists`, `Forbidden`, `Conflict`, … */
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** The cluster did not answer, or answered with a fault of its own, for as long as it was asked. Nothing follows from it. */
export class ClusterUnavailableError extends Error {
  override readonly name = 'ClusterUnavailableError'
}

/** What the settings say about the cluster cannot be used. The message says what to change. */
export class ClusterSettingsError extends Error {
  override readonly name = 'ClusterSettingsError'
}

export function isStatus(error: unknown, ...statuses: readonly number[]): error is KubernetesError {
  return error instanceof KubernetesError && statuses.includes(error.status)
}
