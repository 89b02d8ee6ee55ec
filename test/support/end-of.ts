import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** Starts a service that cannot run with these settings. Gives its exit code and the fatal lines of its log. */
export async function endOf(service: string, settings: Record<string, string>): Promise<[unknown, string[]]> {
  const env = {
    PATH: process.env['PATH'],
    REDIS_URL: 'redis://127.0.0.1:1',
    SMTP_URL: 'smtp://127.0.0.1:1',
    ROSTER_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ROSTER_CALLER_KEY: randomBytes(32).toString('base64'),
    ...settings,
  }
  const child = spawn(process.execPath, [`services/${service}/main.ts`], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const lines = said.split('\n').filter((line) => line.includes('"level":60'))
  return [code, lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)]
}
