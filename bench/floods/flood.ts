// Sends one flood of `kinds.ts` for some seconds to this machine: PORT KEY SECONDS.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { floods, keyOf } from './kinds.ts'

const [port, key, seconds] = process.argv.slice(2)
const flood = floods.find((each) => keyOf(each) === key)!
const first = flood.tls ? await clientHello() : flood.first
const end = performance.now() + Number(seconds) * 1000
await Promise.all(Array.from({ length: flood.connections }, run))

async function run() {
  while (performance.now() < end) await new Promise((resolve) => open().on('close', resolve))
}

function open(): Socket {
  const socket = connect(Number(port), '127.0.0.1').setNoDelay()
  const quit = setTimeout(() => socket.destroy(), Math.max(0, end - performance.now()))
  // What answers a handshake is all that is wanted of it.
  socket.on('data', () => (flood.tls ? socket.destroy() : flood.answered && socket.write(flood.further)))
  socket.on('error', () => {}).on('end', () => socket.destroy())
  socket.on('close', () => clearTimeout(quit))
  socket.write(first)
  if (flood.further.length > 0 && !flood.answered) {
    const more = () => {
      while (socket.writable && socket.write(flood.further));
    }
    socket.on('drain', more)
    more()
  }
  return socket
}

/** The first message of a handshake, as Node's client writes it. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => {})
  const [accepted] = (await once(server, 'connection')) as [Socket]
  const [message] = (await once(accepted, 'data')) as [Buffer]
  client.destroy()
  server.close()
  return message
}
