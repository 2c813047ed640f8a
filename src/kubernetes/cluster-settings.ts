/** Apart from what uses them: public types name them, and must not lead to a package that not everybody has. */
export interface ClusterSettings {
  /** A kubeconfig file; without it KUBECONFIG, the account of the pod that this runs in, or ~/.kube/config. */
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}
