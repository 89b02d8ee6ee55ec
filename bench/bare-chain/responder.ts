// The second half of the bare chain: one single-row INSERT for each request.
import { connect } from 'nats'
import postgres from 'postgres'

const sql = postgres(process.env['BENCH_DATABASE_URL']!)
const { host, username, password } = new URL(process.env['BENCH_NATS_URL']!)
const nats = await connect({ servers: host, user: username, pass: password })
const answer = Buffer.from('{"ok":true}')

nats.subscribe('bench.bare', {
  queue: 'bench',
  callback: (_error, message) => {
    sql`insert into bench.bare (body) values (${message.string()})`.then(
      () => message.respond(answer),
      (error: unknown) => console.error(error),
    )
  },
})
await nats.flush()
console.log('ready')

process.on('SIGTERM', () => process.exit(0))
