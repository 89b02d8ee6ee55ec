import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { zitadelToken as rightToken } from './zitadel-fake.ts'

const root = join(import.meta.dirname, '../../..')

export interface Ended {
  /** 0: all is moved. 1: something is not. 2: it ended early. null: it was killed. */
  status: number | null
  /** The lines of the result. */
  out: string[]
  /** The lines that say what goes on. */
  said: string[]
}

interface Special {
  killAt?: { line: RegExp; count: number }
  token?: string
  zitadelToken?: string
}

/** Runs the command from that ZITADEL to the Roster under test. `killAt`: kills it with -9 at the n-th such line. */
export async function runMigration(
  from: string,
  args: string[],
  { killAt, token = inject('roster').adminToken, zitadelToken = rightToken }: Special = {},
): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-migration-'))
  const file = async (name: string, content: string) => {
    await writeFile(join(folder, name), `${content}\n`, { mode: 0o600 })
    return join(folder, name)
  }
  const given = [
    '--from',
    from,
    '--from-token-file',
    await file('from', zitadelToken),
    '--to',
    inject('roster').url,
    '--to-token-file',
    await file('to', token),
    '--state',
    join(folder, 'state'),
  ]
  const child = spawn(process.execPath, [join(root, 'compat/zitadel/migration/main.ts'), ...given, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  let count = 0
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line)
    if (killAt?.line.test(line) && ++count === killAt.count) child.kill('SIGKILL')
  })
  const [out, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { status: status as number | null, out: out.split('\n').filter(Boolean), said }
}
