// The baseline: node:http that sends the same bytes, and does nothing else.
import { createServer } from 'node:http'

const [status, headers, body] = JSON.parse(process.argv[2] ?? '[]')
const server = createServer((_request, response) => {
  response.writeHead(status, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
