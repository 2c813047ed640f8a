import { describe, expect, it } from 'vitest'
import { type KeptCopy, type Runtime, RuntimeUnavailableError } from '../../src/sandbox.ts'
import { asynchronous, idsOf, place, useWorlds } from './world.ts'

const open = useWorlds()

const whole = `
echo "$1" >> $out/runs
echo "$POD_NAMESPACE \${POD_NAME:+named}" >> $out/pods
cp "$BUNDLE_INPUT" $out/input-$1.json
cp "\${3#@}" $out/vars-$1.json
chmod 644 $out/*.json
case "$1" in
provision)
  echo '{"user":"admin"}' > "$BUNDLE_OUTPUT/credentials.json"
  echo http://dashboard.test/ > "$BUNDLE_OUTPUT/dashboard_url"
  echo '{"db":"db-1","old":"x"}' > "$BUNDLE_OUTPUT/state.json";;
update)
  test "$(cat $BUNDLE_STATE/db)" = db-1 || exit 9
  echo '{"old":null,"updated":"yes"}' > "$BUNDLE_OUTPUT/state.json";;
bind)
  echo '{"user":"role"}' > "$BUNDLE_OUTPUT/credentials.json"
  echo '{"bound":"1"}' > "$BUNDLE_OUTPUT/state.json"
  echo '{"role":"r-1"}' > "$BUNDLE_OUTPUT/binding_state.json";;
unbind)
  test "$(cat $BUNDLE_BINDING_STATE/role)" = r-1 || exit 9
  echo '{"bound":null}' > "$BUNDLE_OUTPUT/state.json";;
deprovision)
  test "$(cat $BUNDLE_STATE/updated)" = yes || exit 9
  test ! -e $BUNDLE_STATE/old || exit 9
  test ! -e $BUNDLE_STATE/bound || exit 9;;
esac
`

describe('a bundle', () => {
  it('does all actions, with its state and the variables of each', async () => {
    const world = await open({
      script: whole,
      quick: true,
      parts: {
        secretsFor: async () => [
          { name: 'one', entries: { token: 'ours', size: 'ours' } },
          { name: 'two', entries: { token: 'operators' } },
        ],
        env: { HTTP_PROXY: 'http://proxy' },
      },
    })
    const { client } = await world.start()
    const ids = idsOf(world)
    const identity = Buffer.from(JSON.stringify({ username: 'ann' })).toString('base64')
    const provisioned = await client.provision(
      'i',
      { ...ids, ...place, context: { platform: 'kubernetes', namespace: 'ns' }, parameters: { password: 'sesame' } },
      { ...asynchronous, headers: { 'X-Broker-API-Originating-Identity': `kubernetes ${identity}` } },
    )
    expect(provisioned).toMatchObject({ status: 202 })
    expect(provisioned.body.dashboard_url).toBeUndefined()
    expect(await world.ended(provisioned)).toMatchObject({ state: 'succeeded' })
    expect((await client.fetchInstance('i')).body).toMatchObject({
      dashboard_url: 'http://dashboard.test/',
      parameters: { size: 3 },
    })
    expect(JSON.stringify((await client.fetchInstance('i')).body)).not.toContain('sesame')
    expect(world.lines('pods')).toEqual(['ns named'])
    expect(world.json('vars-provision.json')).toEqual({
      password: 'sesame',
      token: 'operators',
      size: 'ours',
      namespace: 'ns',
      cluster: 'kubernetes',
      _apb_plan_id: 'small',
      _apb_service_class_id: ids.service_id,
      _apb_service_instance_id: 'i',
      _apb_last_requesting_user: 'ann',
      _apb_bundle_version: '1.2.0',
      _apb_state: {},
    })
    expect(world.json('input-provision.json')).toMatchObject({
      action: 'provision',
      operation: provisioned.body.operation,
      instance: { id: 'i' },
      service: { id: ids.service_id, name: 'test-shell' },
      plan: { id: ids.plan_id, name: 'small' },
      parameters: { size: 3, password: 'sesame' },
      context: { namespace: 'ns' },
      user: 'ann',
      bundleVersion: '1.2.0',
      credentials: {},
      secrets: { token: 'operators' },
    })

    const updated = await client.update(
      'i',
      { ...idsOf(world, 'large'), parameters: { size: 7 }, maintenance_info: { version: '1.2.0' } },
      asynchronous,
    )
    expect(await world.ended(updated)).toMatchObject({ state: 'succeeded' })
    expect(world.json('vars-update.json')).toMatchObject({
      _apb_plan_id: 'large',
      _apb_provision_creds: { user: 'admin' },
      _apb_previous_plan_id: 'small',
      _apb_previous_parameters: { size: 3, password: 'sesame' },
    })
    expect(world.json('input-update.json')).toMatchObject({
      parameters: { size: 7, password: 'sesame' },
      previous: { plan: { name: 'small' }, parameters: { size: 3 } },
    })

    const large = idsOf(world, 'large')
    const bound = await client.bind('i', 'b', { ...large, parameters: { pin: '1234' } }, asynchronous)
    expect(await world.ended(bound)).toMatchObject({ state: 'succeeded' })
    const fetched = (await client.fetchBinding('i', 'b')).body
    expect(fetched).toMatchObject({ credentials: { user: 'role' }, parameters: { role: 'reader' } })
    expect(JSON.stringify(fetched)).not.toContain('1234')
    expect(world.json('vars-bind.json')).toMatchObject({
      role: 'reader',
      pin: '1234',
      _apb_service_binding_id: 'b',
      _apb_provision_creds: { user: 'admin' },
    })
    expect((await world.store.instance('i'))?.state).toEqual({
      state: { db: 'db-1', updated: 'yes', bound: '1' },
      credentials: { user: 'admin' },
    })
    expect((await world.store.binding('i', 'b'))?.state).toEqual({
      state: { role: 'r-1' },
      credentials: { user: 'role' },
    })

    expect(await world.ended(await client.unbind('i', 'b', large, asynchronous))).toMatchObject({ state: 'succeeded' })
    expect(world.json('vars-unbind.json')).toMatchObject({
      _apb_plan_id: 'large',
      _apb_service_class_id: ids.service_id,
      _apb_bind_creds: { user: 'role' },
      _apb_provision_creds: { user: 'admin' },
      provision_params: { size: 7, password: 'sesame' },
    })

    const gone = await world.ended(await client.deprovision('i', large, asynchronous))
    expect(gone).toMatchObject({ state: 'succeeded' })
    expect((await world.store.instance('i'))?.state).toEqual({})
    expect(world.lines('runs')).toEqual(['provision', 'update', 'bind', 'unbind', 'deprovision'])
    expect(await (await world.runtimeOf()).list()).toEqual([])
  })

  it('has what is kept of it shown, where a runtime does that, and nothing of what is deleted', async () => {
    const world = await open({ script: whole, quick: true })
    const shown: KeptCopy[] = []
    let away = false
    const { client } = await world.start({
      wrap: (runtime): Runtime => ({
        ...runtime,
        async showKept(kept) {
          if (away) throw new RuntimeUnavailableError('away')
          shown.push(kept)
        },
      }),
    })
    const ids = idsOf(world)
    const last = (id: string) => shown.findLast(kept => kept.id === id)
    const provisioned = await client.provision('i', { ...ids, ...place }, asynchronous)
    expect(await world.ended(provisioned)).toMatchObject({ state: 'succeeded' })
    expect(last('i')).toMatchObject({
      action: 'provision',
      state: { db: 'db-1', old: 'x' },
      credentials: { user: 'admin' },
    })
    const bound = await client.bind('i', 'b', ids, asynchronous)
    expect(await world.ended(bound)).toMatchObject({ state: 'succeeded' })
    expect(last('b')).toMatchObject({ action: 'bind', credentials: { user: 'role' } })
    expect(last('i')).toMatchObject({ state: { db: 'db-1', old: 'x', bound: '1' }, credentials: { user: 'admin' } })
    expect(await world.ended(await client.unbind('i', 'b', ids, asynchronous))).toMatchObject({
      state: 'succeeded',
    })
    expect(last('b')).toEqual({ id: 'b', bundle: world.revision.fullName, action: 'unbind' })
    // What cannot be shown fails nothing.
    away = true
    const updated = await client.update('i', { ...ids, parameters: { size: 4 } }, asynchronous)
    expect(await world.ended(updated)).toMatchObject({ state: 'succeeded' })
    away = false
    expect(await world.ended(await client.deprovision('i', ids, asynchronous))).toMatchObject({
      state: 'succeeded',
    })
    expect(last('i')).toEqual({ id: 'i', bundle: world.revision.fullName, action: 'deprovision' })
  })
})
