import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { commands } from './commands.ts'
import { generalHelp, helpOf } from './help.ts'
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
  for (const text of [help, ...commands.map(helpOf)])
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(120)
})

test.each([
  ['dead-letters list', 'parked list'],
  ['dead-letters retry', 'parked retry'],
  ['dead-letters drop', 'parked drop'],
  ['erasure-report', 'forgotten'],
])('%s is the same as %s, and both docs/command.md and the help say so', async (alias, name) => {
  const helpBy = async (called: string) => {
    const stdout = new PassThrough()
    const terminal = { stdin: new PassThrough(), stdout, stderr: new PassThrough(), env: {} } as unknown as Terminal
    expect(await run([...called.split(' '), '--help'], terminal)).toBe(0)
    return String(stdout.read())
  }
  expect(await helpBy(alias)).toBe(await helpBy(name))
  expect(await helpBy(name)).toContain(`\`${alias}\` is the same command.`)
  expect(page).toContain(`\`${alias}\``)
})

test("each option of a command is in the command's help", () => {
  for (const command of commands)
    for (const name of Object.keys(command.options ?? {})) expect(helpOf(command)).toContain(`--${name}`)
})
