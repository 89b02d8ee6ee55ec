// The bare mail chain, a process of its own: BullMQ with one job for each mail, and the pool of connections that Roster
// sends by. It asks no service what to send, writes no mail, and records no end. Without Redis it is the pool
// alone. It answers with the microseconds of CPU time that it used.
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { openSmtpPool } from '../../services/notifier/mails/smtp/smtp-pool.ts'

/** What the parent asks for. */
export interface BareMails {
  smtpUrl: string
  /** Undefined: no queue. */
  redisUrl: string | undefined
  recipients: string[]
  mail: string
  /** Connections to the mail server, and jobs under way. */
  places: number
  jobs: number
}

const from = 'no-reply@localhost'

process.on('message', (asked: BareMails) => {
  const used = process.cpuUsage()
  run(asked).then(
    () => {
      const { user, system } = process.cpuUsage(used)
      process.send!(user + system)
    },
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))

async function run({ smtpUrl, redisUrl, recipients, mail, places, jobs }: BareMails): Promise<void> {
  const pool = openSmtpPool({ url: smtpUrl, maxConnections: places, readyWithin: 120_000 })
  const send = (to: string) => pool.send(from, to, mail)
  if (redisUrl) await sendQueued(redisUrl, recipients, jobs, send)
  else {
    const left = [...recipients]
    const drain = async () => {
      for (let to = left.pop(); to !== undefined; to = left.pop()) await send(to)
    }
    await Promise.all(Array.from({ length: places }, drain))
  }
  pool.close()
}

async function sendQueued(url: string, recipients: string[], jobs: number, send: (to: string) => Promise<unknown>) {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const options = { removeOnComplete: true, attempts: 1_000_000 }
  const queue = new Queue<string>('mails', { connection, prefix: 'bare' })
  await queue.addBulk(recipients.map((data, n) => ({ name: 'mail', data, opts: { ...options, jobId: `mail-${n}` } })))
  const { promise: done, resolve } = Promise.withResolvers<void>()
  let left = recipients.length
  const worker = new Worker<string>('mails', ({ data }) => send(data), {
    connection,
    prefix: 'bare',
    concurrency: jobs,
  })
  worker.on('error', (error) => console.error(error))
  worker.on('completed', () => {
    if (--left === 0) resolve()
  })
  await done
  await worker.close()
  await queue.close()
  connection.disconnect()
}
