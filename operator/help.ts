import type { Command } from './command.ts'

const call = 'npm run roster --'

export function generalHelp(commands: Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `${call} COMMAND [--json] [--yes] [--help]`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    ...general,
    '',
    `${call} COMMAND --help explains a command. docs/command.md lists the rights that it needs.`,
  ].join('\n')
}

export function helpOf({ name, alias, takes, summary, more = [], optionLines = [] }: Command): string {
  const usage = [call, name, ...(takes === undefined ? [] : [takes])].join(' ')
  const same = alias === undefined ? [] : [`\`${alias}\` is the same command.`]
  return [usage, '', summary, ...more, ...same, '', ...optionLines.map((line) => `  ${line}`), ...general].join('\n')
}

const general = [
  '  --json          writes JSON, a value on each line',
  '  --yes           answers each question with yes',
  '  --help          writes this',
  'Exit status: 0 all is well, 1 the command found something, 2 it could not do its work.',
]
