// What the modules of the Automation Broker do (asb_encode_binding, asb_last_operation, asb_dashboard_url, asb_set_state, the
// lookup asb_state), each by the API and with the token of the pod. The address of the API server is the parameter "api".
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'

const account = '/var/run/secrets/kubernetes.io/serviceaccount'
const [action, flag, json] = process.argv.slice(2)
const vars = JSON.parse(json)
const { POD_NAME: pod, POD_NAMESPACE: namespace, BUNDLE_STATE_LOCATION: stateFolder } = process.env
const base = `/api/v1/namespaces/${namespace}`

function call(method, path, body) {
  const [host, port] = vars.api.split(':')
  const headers = {
    authorization: `Bearer ${readFileSync(`${account}/token`, 'utf8')}`,
    'content-type': 'application/json',
  }
  const ca = readFileSync(`${account}/ca.crt`)
  return new Promise((resolve, reject) => {
    const sent = request(
      { host, port, path, method, headers, ca, servername: 'kubernetes.default.svc' },
      async answer => {
        let text = ''
        for await (const part of answer) text += part
        const found = JSON.parse(text)
        if (answer.statusCode < 300) resolve(found)
        else reject(Object.assign(new Error(found.message), { status: answer.statusCode }))
      },
    )
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

async function annotate(name, value) {
  const found = await call('GET', `${base}/pods/${pod}`)
  found.metadata.annotations = { ...found.metadata.annotations, [name]: value }
  await call('PUT', `${base}/pods/${pod}`, found)
}

async function setState(fields) {
  const map = { metadata: { name: pod, namespace }, data: fields }
  try {
    const found = await call('GET', `${base}/configmaps/${pod}`)
    await call('PUT', `${base}/configmaps/${pod}`, { ...found, data: { ...found.data, ...fields } })
  } catch (error) {
    if (error.status !== 404) throw error
    await call('POST', `${base}/configmaps`, map)
  }
}

const readState = () =>
  Object.fromEntries(
    readdirSync(stateFolder)
      .filter(key => !key.startsWith('.'))
      .map(key => [key, readFileSync(`${stateFolder}/${key}`, 'utf8')]),
  )

if (flag !== '--extra-vars') throw new Error(`no extra vars: ${flag}`)
if (action === 'update') process.exit(8)
if (vars.fail) {
  writeFileSync('/dev/termination-log', vars.fail)
  process.exit(1)
}
await annotate('apb_last_operation', `${action}: halfway`)
if (vars.pause) await new Promise(resolve => setTimeout(resolve, vars.pause))
if (action === 'provision') {
  const fields = {
    user: 'admin',
    password: vars.password,
    saw: readFileSync('/etc/apb-secrets/apb-shared/key', 'utf8'),
  }
  const data = { fields: Buffer.from(JSON.stringify(fields)).toString('base64') }
  await call('POST', `${base}/secrets`, { metadata: { name: pod, namespace }, data })
  await annotate('apb_dashboard_url', 'https://example.com/dashboard')
  await setState({ name: 'db1', target: vars.namespace })
  // What the sandbox role gives it in the namespace that the service is for.
  const map = { metadata: { name: `made-${vars._apb_service_instance_id}` } }
  if (vars.namespace) await call('POST', `/api/v1/namespaces/${vars.namespace}/configmaps`, map)
}
if (action === 'bind') await setState({ bound: JSON.stringify(readState()) })
