// The baseline: node:http that sends the same bytes, and does nothing else. `bare.mjs <file with the answers as JSON>`: one
// answer for each path, and one for every PUT.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))).map(([name, [status, headers, text]]) => [
    name,
    // A short string goes out with the headers in one write; a long one would be encoded anew each time.
    { status, headers, body: text.length < 65_536 ? text : Buffer.from(text) },
  ]),
)
const server = createServer((request, response) => {
  const { status, headers, body } = answers.get(request.method === 'PUT' ? 'PUT' : request.url)
  response.writeHead(status, headers)
  response.end(body)
})
// As ours, so that its header has the same length.
server.keepAliveTimeout = 95_000
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
