import type { Command, Option } from './command.ts'

const call = 'npm run roster --'

/** The options of every command. */
export const ofAll: Record<string, Option> = {
  json: { does: 'writes JSON, a value on each line' },
  yes: { does: 'answers each question with yes' },
  help: { does: 'writes this' },
}

export function generalHelp(commands: Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `${call} COMMAND [--json] [--yes] [--help]`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    ...linesOf(ofAll),
    statuses,
    '',
    `${call} COMMAND --help explains a command. docs/command.md lists the rights that it needs.`,
  ].join('\n')
}

/** The help for commands that begin with the same word. */
export function helpOfGroup(commands: Command[]): string {
  const each = commands.flatMap((command) => [
    usageOf(command),
    `  ${command.summary}`,
    ...linesOf(command.options ?? {}),
    '',
  ])
  return [...each, ...linesOf(ofAll), statuses].join('\n')
}

export function helpOf(command: Command): string {
  const { alias, summary, more = [], options } = command
  const same = alias === undefined ? [] : [`\`${alias}\` is the same command.`]
  return [usageOf(command), '', summary, ...more, ...same, '', ...linesOf({ ...options, ...ofAll }), statuses].join(
    '\n',
  )
}

function usageOf({ name, takes }: Command): string {
  return [call, name, ...(takes === undefined ? [] : [takes])].join(' ')
}

function linesOf(options: Record<string, Option>): string[] {
  const rows = Object.entries(options).map(([name, { takes, does }]) => [`--${name} ${takes ?? ''}`, does] as const)
  const width = Math.max(...rows.map(([usage]) => usage.length))
  return rows.map(([usage, does]) => `  ${usage.padEnd(width)}  ${does}`)
}

const statuses = 'Exit status: 0 all is well, 1 the command found something, 2 it could not do its work.'
