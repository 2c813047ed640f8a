// The baseline: node:http that sends the same bytes, and does nothing else. `bare.mjs <file with the answer as JSON>`
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [status, headers, text] = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
// A short string goes out with the headers in one write; a long one would be encoded anew each time.
const body = text.length < 65_536 ? text : Buffer.from(text)
const server = createServer((_request, response) => {
  response.writeHead(status, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
