import { join } from 'node:path'
import { parse } from 'yaml'
import { applySetup, checkSetup } from '../deploy/setup/apply.ts'
import { exportSetup } from '../deploy/setup/export.ts'
import { type Gateway, openGateway, Refused } from '../deploy/setup/gateway.ts'
import { SetupFaults } from '../deploy/setup/read-file.ts'
import { setupSchema } from '../deploy/setup/schema.ts'
import { runningInstance } from '../deploy/local/instance.ts'
import { projectRoot } from '../deploy/local/home.ts'
import type { Called, Command, Option } from './command.ts'
import type { Output } from './output.ts'
import { textOf } from './read-files.ts'
import { Refusal } from './refusal.ts'

const options: Record<string, Option> = {
  'token-file': {
    takes: 'FILE',
    does: 'has the token of an administrator of the instance; default: that of `npm start`',
  },
  url: { takes: 'URL', does: 'is that of the gateway; default: that of `npm start`, or http://localhost:8080' },
}
const shared = { options, isOffline: () => true }
const file = 'FILE is a setup file: docs/setup.md. Without it, ROSTER_SETUP names one.'

export const setupCommands: Command[] = [
  {
    ...shared,
    name: 'setup apply',
    takes: '[FILE]',
    summary: 'Makes what the setup file names and is missing, and sets the fields that it names. Removes nothing.',
    more: [file, 'Where the file contradicts what is there, nothing is written.'],
    arguments: [0, 1],
    run: (called) =>
      refusing(async () => {
        const { output, env } = called
        const said: Promise<void>[] = []
        const say = (text: string) => void said.push(show(output, text))
        const warn = (text: string) => void said.push(show(output, text, 'warning'))
        const done = await applySetup(gatewayOf(called), fileOf(called), { env, say, warn })
        await Promise.all(said)
        output.line(countOf(done))
        return 0
      }),
  },
  {
    ...shared,
    name: 'setup check',
    takes: '[FILE]',
    summary: 'Shows what `setup apply` would do, and ends with exit status 1 if that is anything.',
    more: [file],
    arguments: [0, 1],
    run: (called) =>
      refusing(async () => {
        const { changes, warnings } = await checkSetup(gatewayOf(called), fileOf(called), called.env)
        for (const text of warnings) await show(called.output, text, 'warning')
        for (const { text } of changes) await show(called.output, text)
        called.output.line(countOf(changes.length))
        return changes.length === 0 ? 0 : 1
      }),
  },
  {
    ...shared,
    name: 'setup export',
    takes: '[ORGANIZATION…]',
    summary: 'Writes the setup file of what is there, or of these organizations alone, without secrets.',
    more: ['It has names and addresses of people: treat the file accordingly.'],
    arguments: [0, 100],
    run: (called) =>
      refusing(async () => {
        const text = await exportSetup(gatewayOf(called), called.args)
        if (called.output.isJson) await called.output.json(parse(text))
        for (const line of text.trimEnd().split('\n')) called.output.line(line)
        return 0
      }),
  },
  {
    name: 'setup schema',
    summary: 'Writes the JSON Schema of setup files, by which an editor checks them.',
    arguments: [0, 0],
    isOffline: () => true,
    async run({ output }) {
      if (output.isJson) await output.json(setupSchema())
      for (const line of JSON.stringify(setupSchema(), null, 2).split('\n')) output.line(line)
      return 0
    },
  },
]

async function show(output: Output, text: string, as: 'change' | 'warning' = 'change'): Promise<void> {
  if (output.isJson) await output.json({ [as]: text })
  output.line(as === 'warning' ? `warning: ${text}` : text)
}

function countOf(changes: number): string {
  return changes === 0 ? 'Nothing to do.' : changes === 1 ? '1 change.' : `${changes} changes.`
}

function gatewayOf({ options }: Called): Gateway {
  const home = join(projectRoot, '.roster')
  const url = options['url'] ?? runningInstance(home)?.url ?? 'http://localhost:8080'
  const file = String(options['token-file'] ?? join(home, 'admin-token'))
  return openGateway(String(url).replace(/\/$/, ''), () => textOf(file).trim())
}

function fileOf({ args, env }: Called): string {
  const file = args[0] ?? env['ROSTER_SETUP']
  if (!file) throw new Refusal('There is no setup file: name one, or set ROSTER_SETUP.')
  return file
}

async function refusing(work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SetupFaults || error instanceof Refused) throw new Refusal(error.message)
    throw error
  }
}
