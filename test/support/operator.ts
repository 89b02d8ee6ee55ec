import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../deploy/local/home.ts'
import { houseKeys } from '../house.ts'
import type { TestServers } from '../infra.ts'

/** What the operator's command wrote, and its exit status. */
export interface Ran {
  status: number | null
  out: string
  err: string
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

/** Runs the operator's command as a process of its own. It has no terminal. */
export function runOperator(
  args: string[],
  settings: Record<string, string>,
  program = join(projectRoot, 'deploy/operator/main.ts'),
): Promise<Ran> {
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...settings }
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      const json = () => out.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
      resolve({ status, out, err, json })
    })
  })
}
