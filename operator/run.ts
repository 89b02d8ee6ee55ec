import { parseArgs } from 'node:util'
import { visible } from '../compat/zitadel/migration/shown.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import { generalHelp, helpOf } from './help.ts'
import { openOutput } from './output.ts'
import { Refusal } from './refusal.ts'
import { readUrls } from './settings.ts'
import { openSystem } from './system.ts'
import { confirm, type Terminal } from './terminal.ts'

/** Runs the command of these arguments. Returns its exit status, which is 2 where it could not do its work. */
export async function run(given: string[], terminal: Terminal): Promise<number> {
  try {
    return await runCommand(given, terminal)
  } catch (error) {
    const { message } = error as Error
    const isKnown = error instanceof Refusal || (error instanceof Error && 'code' in error)
    const text = isKnown ? message || String((error as { code?: unknown }).code) : String(error)
    terminal.stderr.write(`${text.split('\n').map(visible).join('\n')}\n`)
    return 2
  }
}

async function runCommand(given: string[], terminal: Terminal): Promise<number> {
  const { command, rest } = find(given)
  if (!command) {
    const isAsked = given.length === 0 || given.includes('--help') || given[0] === 'help'
    terminal[isAsked ? 'stdout' : 'stderr'].write(`${generalHelp(commands)}\n`)
    return isAsked ? 0 : 2
  }
  const { values, positionals } = read(command, rest)
  if (values['help'] === true) {
    terminal.stdout.write(`${helpOf(command)}\n`)
    return 0
  }
  const [least, most] = command.arguments
  if (positionals.length < least || positionals.length > most)
    throw new Refusal(`${command.name} takes other arguments.\n\n${helpOf(command)}`)
  const { env } = terminal
  const system = openSystem(
    command.isOffline?.(values) ? { databaseUrl: '', natsUrl: '', redisUrl: undefined } : readUrls(env),
    command.mayWrite,
  )
  const output = openOutput(terminal, values['json'] === true)
  try {
    return await command.run({
      system,
      output,
      env,
      args: positionals,
      options: values,
      confirm: (question) => confirm(terminal, question, values['yes'] === true),
    })
  } finally {
    output.clear()
    await system.close()
  }
}

// The name is one word or two, before all options.
function find(given: string[]): { command: Command | undefined; rest: string[] } {
  for (const words of [2, 1]) {
    const name = given.slice(0, words).join(' ')
    const command = commands.find((known) => known.name === name || known.alias === name)
    if (command) return { command, rest: given.slice(words) }
  }
  return { command: undefined, rest: [] }
}

function read(command: Command, rest: string[]) {
  const flags = { json: { type: 'boolean' }, yes: { type: 'boolean' }, help: { type: 'boolean' } } as const
  try {
    return parseArgs({ args: rest, allowPositionals: true, options: { ...command.options, ...flags } })
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${helpOf(command)}`)
  }
}
