/** What every request of a platform has. */
export const osbHeaders = {
  authorization: `Basic ${Buffer.from('bench:bench').toString('base64')}`,
  'x-broker-api-version': '2.17',
}

/** A request to the OSB API as a platform sends it. */
export function osbRequest(method: string, path: string, body = ''): Buffer {
  const length = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${osbHeaders.authorization}\r\n` +
      `x-broker-api-version: ${osbHeaders['x-broker-api-version']}\r\n${length}\r\n${body}`,
  )
}

export const provisionBody = JSON.stringify({
  service_id: 'bench',
  plan_id: 'plan-0',
  organization_guid: 'org',
  space_guid: 'space',
  context: { platform: 'cloudfoundry', organization_guid: 'org', space_guid: 'space', instance_name: 'my-instance' },
  parameters: { size: 3 },
})

export function provisionRequest(id: string): Buffer {
  return osbRequest('PUT', `/v2/service_instances/${id}?accepts_incomplete=true`, provisionBody)
}
