import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { Log } from '../log.ts'

export interface HealthSettings {
  HEALTH_PORT: number | undefined
  HEALTH_FILE: string | undefined
}

/** Why the process cannot answer calls, in a sentence without secrets; undefined while it can. */
export type FindProblem = () => string | undefined | Promise<string | undefined>

const every = 2000

/**
 * Shows to whom runs the process whether it is ready: at `/healthz` and `/readyz` of HEALTH_PORT, and in HEALTH_FILE,
 * which holds `ready` or the problem, and is renewed every two seconds. Rejects where either cannot be.
 */
export async function showHealth(
  { HEALTH_PORT: port, HEALTH_FILE: file }: HealthSettings,
  find: FindProblem,
  log: Log,
) {
  if (port !== undefined) await answerAt(port, find)
  if (file !== undefined) await renew(file, find, log)
}

async function answerAt(port: number, find: FindProblem): Promise<void> {
  const answer = (response: ServerResponse, status: number, report: object) =>
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(report))
  const server = createServer({ maxHeaderSize: 8 * 1024 }, async ({ url }, response) => {
    if (url === '/healthz') return void answer(response, 200, { status: 'ok' })
    if (url !== '/readyz') return void answer(response, 404, { status: 'unknown path' })
    const problem = await problemOf(find)
    answer(response, problem === undefined ? 200 : 503, { status: problem ?? 'ok' })
  })
  server.maxConnections = 20
  server.on('connection', (socket) => {
    const end = setTimeout(() => socket.destroy(), 15_000).unref()
    socket.once('close', () => clearTimeout(end))
  })
  // It does not keep the process alive.
  server.listen(port).unref()
  await once(server, 'listening')
}

async function renew(file: string, find: FindProblem, log: Log): Promise<void> {
  const write = async () => {
    const text = (await problemOf(find)) ?? 'ready'
    writeFileSync(`${file}.new`, `${text}\n`)
    renameSync(`${file}.new`, file)
  }
  await write()
  // One that takes longer than two seconds is not asked twice.
  const again = () => void setTimeout(() => void write().catch(report).finally(again), every).unref()
  const report = (error: unknown) => log.error({ err: error, file }, 'HEALTH_FILE cannot be written')
  again()
}

async function problemOf(find: FindProblem): Promise<string | undefined> {
  try {
    return await find()
  } catch {
    return 'it cannot say whether it is ready'
  }
}
