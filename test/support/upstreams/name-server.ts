import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'

/**
 * Starts a name server that this process asks from now on. It knows names in `example`, which are 127.0.0.1, and no
 * others. It does not answer for names that begin with `silent`. A name that begins with `both` is 127.0.0.2, too.
 */
export async function useNameServer() {
  const before = dns.getServers()
  const silentFor: string[] = []
  const server = createSocket('udp4')
  server.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const question = query.subarray(12, at + 5)
    if (labels[0]!.startsWith('silent')) return void silentFor.push(labels.join('.'))
    const known = labels.at(-1) === 'example'
    const hosts = known && question.readUInt16BE(question.length - 4) === 1 ? [1, 2] : []
    const records = hosts
      .slice(0, labels[0]!.startsWith('both') ? 2 : 1)
      .map((host) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, host]))
    const head = Buffer.from([query[0]!, query[1]!, 0x81, known ? 0x80 : 0x83, 0, 1, 0, records.length, 0, 0, 0, 0])
    server.send(Buffer.concat([head, question, ...records]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  dns.setServers([`127.0.0.1:${server.address().port}`])
  return {
    /** The names whose questions got no answer. */
    silentFor,
    stop() {
      dns.setServers(before)
      server.close()
    },
  }
}
