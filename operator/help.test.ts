import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { commands } from './commands.ts'
import { generalHelp, helpOf, helpOfGroup, ofAll } from './help.ts'
import { run } from './run.ts'
import type { Terminal } from './terminal.ts'

const page = readFileSync(new URL('../docs/command.md', import.meta.url), 'utf8')

test('docs/command.md has a row for each command, and no other', () => {
  const rows = [...page.matchAll(/^\| `([a-z ]+)` \|/gm)].map(([, name]) => name)
  expect(rows).toEqual(commands.map(({ name }) => name))
})

test('the help names each command with a sentence, and fits into a terminal', () => {
  const help = generalHelp(commands)
  for (const { name, summary } of commands) {
    expect(help).toContain(`  ${name} `)
    expect(summary).toMatch(/^[A-Z].*\.$/)
  }
  for (const text of [help, helpOfGroup(commands), ...commands.map(helpOf)])
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(120)
})

async function call(status: number, ...words: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const terminal = { stdin: new PassThrough(), stdout, stderr, env: {} } as unknown as Terminal
  expect(
    await run(
      words.flatMap((word) => word.split(' ')),
      terminal,
    ),
  ).toBe(status)
  return { out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}

test.each([
  ['dead-letters list', 'parked list'],
  ['dead-letters retry', 'parked retry'],
  ['dead-letters drop', 'parked drop'],
  ['erasure-report', 'forgotten'],
])('%s is the same as %s, and both docs/command.md and the help say so', async (alias, name) => {
  const helpBy = async (called: string) => (await call(0, called, '--help')).out
  expect(await helpBy(alias)).toBe(await helpBy(name))
  expect(await helpBy(name)).toContain(`\`${alias}\` is the same command.`)
  expect(page).toContain(`\`${alias}\``)
})

test("each option of a command is in the command's help, and docs/command.md names no other option", () => {
  const known = [ofAll, ...commands.map(({ options }) => options ?? {})].flatMap((options) => Object.keys(options))
  for (const command of commands)
    for (const name of Object.keys(command.options ?? {})) expect(helpOf(command)).toContain(`--${name} `)
  for (const [, name] of page.matchAll(/[ `]--([a-z][a-z-]*)/g)) expect([...known, 'rm'], name).toContain(name)
})

test.each([
  ['history', ['history show [SERVICE…]', 'history reconcile [SERVICE…]']],
  ['parked', ['parked list [SERVICE…]', 'parked retry ID… | --all', 'parked drop ID… | --all', '--all   means every']],
  ['keys', ['keys rotate', '--root FILE', '--folder DIR', '--home DIR']],
])('%s alone is helped with by all commands that begin so, and their options', async (word, lines) => {
  const { out } = await call(0, word, '--help')
  for (const line of [...lines, '--json']) expect(out).toContain(line)
  expect(out).not.toContain('checkpoints')
  expect((await call(0, 'help', word)).out).toBe(out)
  const refused = await call(2, word)
  expect(refused).toEqual({ out: '', err: `There is no command "${word}".\n\n${out}` })
})

test('help comes before a command and behind it', async () => {
  expect((await call(0, 'help history show')).out).toBe((await call(0, 'history show --help')).out)
  expect((await call(0, 'help')).out).toBe((await call(0)).out)
})

test.each([
  ['nonsense', 'There is no command "nonsense".'],
  ['history nonsense', 'There is no command "history nonsense".'],
  ['help nonsense', 'There is no command "nonsense".'],
  ['--nonsense status', 'There is no command "--nonsense status".'],
  ['status --nonsense', "Unknown option '--nonsense'"],
  ['history show --all', "Unknown option '--all'"],
  ['checkpoints --accept-epoch 2', '--accept-epoch goes with --after.'],
  ['verify --keys file', '--keys goes with --audit.'],
  ['verify --audit --export file', '--export goes with --keys.'],
  ['verify --audit --keys file --export file --checkpoints file', '--checkpoints does not go with --export.'],
  ['verify --audit --without-stream', '--without-stream does not go with --audit.'],
  ['keys rotate --folder folder', '--folder goes with --root.'],
  ['keys rotate --root file --home folder', '--home does not go with --root.'],
])('%s is refused, and what is unknown or means nothing is named', async (words, sentence) => {
  const { out, err } = await call(2, words)
  expect(out).toBe('')
  expect(err.startsWith(sentence), err).toBe(true)
})
