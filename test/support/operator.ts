import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { projectRoot } from '../../deploy/local/home.ts'
import { run } from '../../operator/run.ts'
import { houseKeys } from '../house.ts'
import type { TestServers } from '../infra.ts'

/** What the operator's command wrote, and its exit status. */
export interface Ran {
  status: number | null
  out: string
  /** Without the first line, which names the database. */
  err: string
  place: string
  /** The lines of the standard output as JSON. */
  json(): any[]
}

/** The settings of the command for these servers. */
export function operatorSettings({ serviceDatabaseUrls, natsUrl, redisUrl }: TestServers): Record<string, string> {
  return {
    ROSTER_OPERATOR_DATABASE_URL: serviceDatabaseUrls.operator,
    ROSTER_OPERATOR_NATS_URL: natsUrl.operator,
    ROSTER_OPERATOR_REDIS_URL: redisUrl,
    ...houseKeys.operator,
  }
}

/** Runs the operator's command. It has no terminal. */
export function runOperator(args: string[], env: Record<string, string>): Promise<Ran> {
  return runAt([new PassThrough(), new PassThrough(), new PassThrough()], args, env)
}

/** Runs it at a terminal, where somebody answers its question. */
export function answerOperator(answer: string, args: string[], env: Record<string, string>): Promise<Ran> {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true })
  const stdin = terminal()
  stdin.end(answer)
  return runAt([stdin, new PassThrough(), terminal()], args, env)
}

async function runAt(
  [stdin, stdout, stderr]: [PassThrough, PassThrough, PassThrough],
  args: string[],
  env: Record<string, string>,
): Promise<Ran> {
  const [out, err] = [text(stdout), text(stderr)]
  const status = await run(args, { env, stdin, stdout, stderr })
  stdout.end()
  stderr.end()
  return ran(status, await out, await err)
}

/** Runs it as a process of its own, which takes twice as long. */
export function spawnOperator(
  args: string[],
  settings: Record<string, string>,
  program = join(projectRoot, 'operator/main.ts'),
): Promise<Ran> {
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...settings }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = [text(child.stdout), text(child.stderr)]
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', async (status) => resolve(ran(status, await out, await err)))
  })
}

function ran(status: number | null, out: string, err: string): Ran {
  const [place = ''] = /^PostgreSQL at .*, database .*\.\n/m.exec(err) ?? []
  const json = () => out.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
  return { status, out, err: err.replace(place, ''), place, json }
}
