import { logAreas } from '../observer/levels.ts'
import { runtimeTypes } from '../sandbox/types.ts'
import {
  anything,
  decimal,
  duration,
  file,
  flag,
  folder,
  oneOf,
  secretText,
  size,
  text,
  wholeNumber,
} from '../shape/fields.ts'
import { fallback, field, list, object, optional, type Read, section } from '../shape/shape.ts'
import { storeForms } from '../store/schemes.ts'
import { auth, certificatesNeedCa, oidcNeedsPublicUrl, unsafe } from './auth.ts'
import { exactlyOne } from './rules.ts'
import { brokerSections, keepsDeletions, listenFields, serverFields } from './settings.ts'
import { isStoreUrl, maskStoreUrl } from './store-url.ts'

const server = section({
  host: fallback(
    text({
      rule: 'a host name or an IP address',
      allows: /^[\w.:%-]+$/,
      doc: 'where to listen; `0.0.0.0` for every interface',
    }),
    '127.0.0.1',
  ),
  port: fallback(wholeNumber(0, 65_535, '0 takes any free port'), 8080),
  tls: optional(
    object(
      {
        cert: file('PEM file with the certificate and its chain; with `key` it turns TLS on'),
        key: file('PEM file with the private key'),
        ca: optional(file('PEM file with the CAs whose client certificates are good; see `clientCertificates`')),
        clientCertificates: fallback(
          oneOf(
            ['required', 'optional'],
            'with `ca`: only clients with a certificate that it has signed are served, or others too, who have to sign in otherwise',
          ),
          'required',
        ),
        crl: optional(
          file('with `ca`: PEM file with a revocation list of each CA. A certificate that is in it is refused'),
        ),
      },
      { rule: 'a map of settings' },
    ),
  ),
  ...listenFields,
  ...serverFields,
  shutdownDelay: fallback(
    duration(
      '0s',
      '1h',
      'how long the server still takes requests after SIGTERM while `/readyz` answers 503, so that load balancers notice; `server.shutdownGrace` comes after it',
    ),
    '5s',
  ),
})

const namespaceRule = 'small letters, digits and dashes, at most 63'
const isNamespace = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const bundlesShape = section({
  runtime: fallback(
    oneOf(
      ['auto', ...runtimeTypes.map(({ name }) => name)],
      '`auto` runs folders as processes and images as containers; the others run only what they can. `kubernetes` runs images in a cluster: see `bundles.kubernetes`',
    ),
    'auto',
  ),
  folder: fallback(
    folder(
      'what running bundles need on this machine, and copies of bundles in folders; from the folder of the configuration file',
    ),
    '.purser/bundles',
  ),
  kubernetes: section({
    kubeconfig: optional(
      file(
        'a kubeconfig file; without it `KUBECONFIG`, the service account of the pod that the broker runs in, or `~/.kube/config`',
      ),
    ),
    context: optional(
      text({ rule: 'the name of a context', doc: 'a context of the kubeconfig; without it the current one' }),
    ),
    namespace: optional(
      text({
        rule: namespaceRule,
        allows: isNamespace,
        doc: 'where the broker keeps what it remembers of its sandboxes; without it its own, or that of the context',
      }),
    ),
    toolsImage: fallback(
      text({
        rule: 'the name of an image',
        doc: 'an image with a static `/bin/busybox`: a small program in each pod keeps its time, and what the bundle leaves',
      }),
      'docker.io/library/busybox:1.37-musl',
    ),
    sandboxRole: fallback(
      text({
        rule: 'the name of a ClusterRole',
        doc: 'what bundles may do, in their own namespace and in the one that their service is for',
      }),
      'edit',
    ),
    roles: fallback(
      list(
        object({
          bundle: text({ rule: 'the name of a service in the catalog', doc: 'a service as the catalog names it' }),
          role: text({ rule: 'the name of a ClusterRole', doc: 'its own in place of `sandboxRole`' }),
        }),
      ),
      [],
    ),
    autoEscalate: fallback(
      flag(
        'bundles run for whoever may use the broker; else the user whom the platform names needs the right to create `access.automationbroker.io` in the namespace',
      ),
      false,
    ),
    pullSecrets: fallback(
      list(text({ rule: 'the name of a Secret' }), {
        rule: 'a list of names',
        doc: "Secrets of the type `kubernetes.io/dockerconfigjson` in the broker's namespace, for images",
      }),
      [],
    ),
    startTimeout: fallback(
      duration('1s', '1d', 'how long a pod may wait for a node or an image; then the action has failed'),
      '5m',
    ),
    disk: fallback(size('1MB', '1000GB', 'what one action may write to its node, besides what it may print'), '1GB'),
    copies: fallback(
      flag(
        "people find what is kept of instances and bindings in the broker's namespace, as with the Automation Broker: the ConfigMap `<instance>-state`, and Secrets with the credentials. They are copies, which nothing reads",
      ),
      false,
    ),
    nodeSelector: fallback(
      anything<Readonly<Record<string, string>>>('labels of nodes and their values', {
        doc: 'labels that the nodes have which run bundles',
      }),
      {},
    ),
  }),
  manifests: section({
    namespaces: fallback(
      list(
        text({
          rule: 'context, or the name of a namespace, with * for any part of it',
          allows: /^[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?$/,
        }),
        {
          rule: 'a list of namespaces',
          doc: 'where services that consist of manifests may make, change and read objects; `context` is the namespace that the platform names, `team-*` all that begin so',
        },
      ),
      ['context'],
    ),
    kinds: fallback(
      list(
        text({
          rule: 'a kind with its version, such as v1/ConfigMap or apps/v1/Deployment; group/version/* for all in namespaces',
          allows: /^(\*|([a-z0-9.-]+\/)?v\d+((alpha|beta)\d+)?\/([A-Z][A-Za-z0-9]*|\*))$/,
        }),
        {
          rule: 'a list of kinds',
          doc: 'which kinds of objects they may make, change and read; none unless they are listed. `*` is every kind that lives in namespaces; others have to be named',
        },
      ),
      [],
    ),
    watch: fallback(
      flag('looks at an instance at once when somebody has changed one of its objects, and not only on schedule'),
      true,
    ),
  }),
  socket: optional(
    folder(
      'of the container engine; without it, of these the first one there is: `DOCKER_HOST`, `/run/podman/podman.sock`, `$XDG_RUNTIME_DIR/podman/podman.sock`, `/var/run/docker.sock`',
    ),
  ),
  user: optional(
    field<string | number, { readonly uid: number; readonly gid: number }>(
      {
        kind: 'text',
        rule: 'the number of a user, or user:group, such as 65534 or 1001:1001',
        doc: 'who runs bundles where the broker is root, and only there; 65534 without it',
      },
      toUser,
    ),
  ),
  exposeFiles: fallback(
    flag(
      "where the broker is not root, and the machine cannot hide the broker's files from bundles that run as processes: run them all the same",
    ),
    false,
  ),
  network: fallback(oneOf(['none', 'allowed'], 'whether bundles may use the network'), 'none'),
  pull: fallback(oneOf(['if-missing', 'always', 'never'], 'when an image is pulled'), 'if-missing'),
  keepPinned: fallback(
    flag(
      'each replica keeps the images that instances are pinned to on its machine, so that their actions run when a registry has lost them',
    ),
    false,
  ),
  timeout: fallback(duration('1s', '30d', 'the longest run of one action, where its bundle says nothing'), '1h'),
  memory: optional(size('16MB', '1000GB', 'the most memory of one action; a bundle may ask for less')),
  cpu: optional(decimal(0.01, 1024, 'cores; containers only')),
  output: fallback(size('1KB', '1GB', 'how much one action may print'), '16MB'),
  processes: fallback(wholeNumber(1, 1_000_000, 'how many processes one action may have'), 512),
  keepOnError: fallback(
    flag('what a failed action ran in stays until the next action of the same instance or binding'),
    false,
  ),
  secretsFrom: fallback(
    oneOf(
      ['folder', 'kubernetes'],
      'where secrets that are named are read: `bundles.secretsFolder`, or as Secrets of `bundles.kubernetes.namespace` from the API, for which the broker needs the right to get them',
    ),
    'folder',
  ),
  secretsFolder: fallback(
    folder(
      'secrets that are named: a folder for each, with a file for each entry, as Kubernetes mounts a Secret. Also for `auth_type: secret` of a registry',
    ),
    '/etc/purser/secrets',
  ),
  secrets: fallback(
    list(
      object(
        {
          bundle: text({
            rule: 'the name of a service in the catalog, such as dh-postgresql-apb',
            doc: 'a service as the catalog names it, such as `dh-postgresql-apb`',
          }),
          file: optional(
            file(
              'a YAML or JSON file with a map: the actions of that bundle get its entries as parameters. It is read anew for each action',
            ),
          ),
          secret: optional(
            text({
              rule: 'the name of a folder in bundles.secretsFolder',
              doc: 'the same from a folder in `bundles.secretsFolder`; one of the two',
            }),
          ),
        },
        { rules: [exactlyOne('file', 'secret')] },
      ),
    ),
    [],
  ),
})

const {
  ledger,
  encryption,
  osb,
  instances,
  bindings,
  orphans,
  engine,
  limits,
  quotas,
  reconcile,
  chores,
  history,
  console,
  metrics,
  traces,
} = brokerSections

/** Every setting of `purser serve`. The reference is made from it: `npm run configuration:reference`. */
export const configShape = object(
  {
    broker: optional(file('the module whose default export is the broker')),
    catalog: optional(
      file(
        "a YAML, JSON or .properties file with the catalog; the services' actions come from the broker module by id",
      ),
    ),
    store: fallback(
      secretText({
        rule: storeForms,
        allows: isStoreUrl,
        secret: false,
        show: maskStoreUrl,
        doc: 'where state is kept: `memory:` (forgets), `sqlite:<file>`, `postgres://…`, `mongodb://…` (see [ledger](#ledger))',
      }),
      'sqlite:purser.db',
    ),
    ledger,
    encryption,
    server,
    auth,
    unsafe,
    osb,
    instances,
    bindings,
    orphans,
    engine,
    limits,
    quotas,
    registries: fallback(
      list(anything<unknown>('a registry', { secret: true }), {
        rule: 'a list of registries',
        doc: 'where bundles come from: [Registries](registries.md) has every key',
      }),
      [],
    ),
    reconcile,
    bundles: bundlesShape,
    chores,
    history,
    console,
    metrics,
    traces,
    log: section({
      // Always there: the loader fills it in, since it depends on where logs go.
      format: oneOf(
        ['json', 'people'],
        'one JSON object a line, or text for people; `people` on a terminal, else `json`',
      ),
      level: fallback(oneOf(['info', 'warn', 'error'], 'the least that is worth a line'), 'info'),
      areas: fallback(
        list(
          object({
            area: oneOf(logAreas, 'what stands before the dot in the name of an event, such as `request`'),
            level: oneOf(['info', 'warn', 'error', 'off'], 'the least that is worth a line there'),
          }),
          { doc: 'other levels for some areas; `purser log-level` changes them while the broker runs' },
        ),
        [],
      ),
    }),
  },
  { rules: [keepsDeletions, certificatesNeedCa, oidcNeedsPublicUrl] },
)

export type ConfigSettings = Read<typeof configShape>

function toUser(value: unknown): { readonly uid: number; readonly gid: number } | undefined {
  const [, uid, gid = uid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(String(value)) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
