import { parseArgs } from 'node:util'
import { visible } from '../compat/zitadel/migration/shown.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'
import { generalHelp, helpOf, helpOfGroup, ofAll } from './help.ts'
import { whyNotToWrite } from './open-schema.ts'
import { openOutput } from './output.ts'
import { describePlace } from './place.ts'
import { Refusal } from './refusal.ts'
import { readUrls } from './settings.ts'
import { noNats, openSystem } from './system.ts'
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
  const words = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const { command, rest } = find(words)
  if (!command) {
    terminal.stdout.write(`${helpFor(words)}\n`)
    return 0
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
  const urls = command.isOffline?.(values) ? undefined : readUrls(env)
  const obstacle = urls ? whyNotToWrite(urls.databaseUrl) : Promise.resolve(undefined)
  if (command.mayWrite || command.needsPrimary?.(values)) {
    const why = await obstacle
    if (why !== undefined) throw new Refusal(`${why}, so ${command.name} does nothing there.`)
  }
  if (urls && urls.natsUrl === undefined && command.needsNats?.(values)) throw noNats()
  const system = openSystem(urls ?? { databaseUrl: '', natsUrl: undefined, redisUrl: undefined }, command.mayWrite)
  const output = openOutput(terminal, values['json'] === true)
  const told = command.showsObstacle
    ? undefined
    : obstacle.then((why) => why !== undefined && output.trouble(`${why}.`))
  try {
    // Before the command asks whether it may destroy something there.
    if (urls) output.trouble(`${await describePlace(system, urls.databaseUrl)}.`)
    return await command.run({
      system,
      output,
      env,
      args: positionals,
      options: values,
      obstacle,
      confirm: (question) => confirm(terminal, question, values['yes'] === true),
    })
  } finally {
    await told
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

// Throws a Refusal where the words name no command, and do not ask for help.
function helpFor(given: string[]): string {
  const words = given.filter((word) => word !== '--help')
  const group = commands.filter(({ name, alias }) => [name, alias].some((one) => one?.startsWith(`${words[0]} `)))
  const help = group.length > 0 ? helpOfGroup(group) : generalHelp(commands)
  const isKnown = words.length === 0 || (words.length === 1 && group.length > 0)
  if (isKnown && (words.length === 0 || given.includes('--help'))) return help
  throw new Refusal(`There is no command ${JSON.stringify(words.join(' '))}.\n\n${help}`)
}

function read(command: Command, rest: string[]) {
  const options = Object.entries({ ...command.options, ...ofAll }).map(
    ([name, { takes }]) => [name, { type: takes === undefined ? 'boolean' : 'string' }] as const,
  )
  try {
    const read = parseArgs({ args: rest, allowPositionals: true, options: Object.fromEntries(options) })
    refuseMeaningless(command, Object.keys(read.values))
    return read
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${helpOf(command)}`)
  }
}

function refuseMeaningless({ options = {} }: Command, given: string[]): void {
  for (const [name, { goesWith = [], notWith = [] }] of Object.entries(options)) {
    if (!given.includes(name)) continue
    for (const other of goesWith) if (!given.includes(other)) throw new Refusal(`--${name} goes with --${other}.`)
    for (const other of notWith) if (given.includes(other)) throw new Refusal(`--${name} does not go with --${other}.`)
  }
}
