// What a change must pass: `check.ts STATIC-CHECKS VITEST-OPTIONS…`. What failed runs once more, alone, since a busy
// machine misses deadlines: docs/decisions/27-ci.md. Ends with a line "N passed, N failed".
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneLine, type Failure, type FileReport, type RunReport } from './report.ts'

/** With more failed files than these, the change is at fault, or the machine is none to test on. */
const mostFiles = 8
/** All that runs once more must end within these milliseconds, so that CI does. */
const patience = 600_000

const [staticChecks = 'true', ...options] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'ci-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const closing: string[] = []
// Beside the first tests, which leave a processor to them.
const checking = check()
const first = await test(options)
let checked = await checking
process.stdout.write(checked.said)

const failedFiles = first.files.filter(({ failed }) => failed.length > 0)
const mayRepeat = first.broken.length === 0 && failedFiles.length <= mostFiles
for (const broken of first.broken) closing.push(`failed: ${broken}`)
if (failedFiles.length > mostFiles) closing.push(`${failedFiles.length} files failed: none runs once more`)
if (!mayRepeat)
  for (const { name, failed } of failedFiles)
    for (const failure of failed) closing.push(`failed: ${name} › ${sentence(failure)}`)

const repeatUntil = Date.now() + patience
const files = first.files.filter(({ failed }) => failed.length === 0)
for (const file of failedFiles) files.push(mayRepeat ? await repeat(file) : file)
if (mayRepeat && !checked.ok) {
  const before = checked
  console.log('once more, alone: the static checks')
  checked = await check(repeatUntil)
  process.stdout.write(checked.said)
  if (checked.ok) closing.push(`passed alone: static checks: ${firstError(before.said)}`)
}
if (!checked.ok) closing.push(`failed: static checks: ${firstError(checked.said)}`)

const count = (of: (file: FileReport) => number) => files.reduce((sum, file) => sum + of(file), 0)
const failed = count((file) => file.failed.length) + first.broken.length + (checked.ok ? 0 : 1)
const skipped = count((file) => file.skipped)
for (const line of closing) console.log(line)
console.log(`${count((file) => file.passed.length)} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0

/** What became of a file that runs once more: all that failed has to pass, not only to be left out. */
async function repeat(before: FileReport): Promise<FileReport> {
  console.log(`once more, alone: ${before.name}`)
  const project = before.project ? ['--project', before.project] : []
  const { files: again, broken } = await test([...options, ...project, before.path], repeatUntil)
  const after = again.find(({ path, project }) => path === before.path && project === before.project)
  const failed = [...(after?.failed ?? []), ...broken.map((message) => ({ test: '', message }))]
  const missing = before.failed.filter(({ test }) => (test ? !after?.passed.includes(test) : !after?.passed.length))
  if (failed.length === 0) failed.push(...missing.map(({ test }) => ({ test, message: 'it did not run' })))
  const outcome = failed.length > 0 ? 'failed alone, too' : 'passed alone'
  for (const failure of failed.length > 0 ? failed : before.failed)
    closing.push(`${outcome}: ${before.name} › ${sentence(failure)}`)
  return { ...(after ?? before), failed }
}

function sentence({ test, message }: Failure): string {
  return `${test || '(the file)'}: ${message}`
}

/** `broken`: why the run failed, beside its files. */
async function test(args: string[], until = Infinity): Promise<{ files: FileReport[]; broken: string[] }> {
  const out = join(folder, 'report.json')
  rmSync(out, { force: true })
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
  const reporters = ['--reporter=default', `--reporter=${fileURLToPath(new URL('report.ts', import.meta.url))}`]
  const { ended } = await run(process.execPath, [vitest, 'run', ...reporters, ...args], 'inherit', until, out)
  const report = readReport(out)
  if (!report) return { files: [], broken: [`Vitest ended with ${ended}, without a report`] }
  const broken = report.unhandled.map((message) => `an unhandled error: ${message}`)
  const isExplained = ended === '1' && (broken.length > 0 || report.files.some(({ failed }) => failed.length > 0))
  if (ended !== '0' && !isExplained) broken.push(`Vitest ended with ${ended}, which no test explains`)
  return { files: report.files, broken }
}

function readReport(path: string): RunReport | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RunReport
  } catch {
    return undefined
  }
}

async function check(until = Infinity): Promise<{ ok: boolean; said: string }> {
  const { ended, said } = await run('bash', ['-c', `exec 2>&1; ${staticChecks}`], 'pipe', until)
  return { ok: ended === '0', said: ended === '0' ? said : `${said}\nthey ended with ${ended}\n` }
}

/** `ended` is the exit code or the signal. At `until`, the program is killed with all that it started. */
async function run(command: string, args: string[], stdout: 'inherit' | 'pipe', until: number, report = '') {
  const env = { ...process.env, CI_REPORT: report }
  const child = spawn(command, args, { stdio: ['ignore', stdout, 'inherit'], env, detached: until < Infinity })
  const timer =
    until < Infinity && setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), Math.max(0, until - Date.now()))
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = await new Promise<string>((end) => child.on('close', (code, signal) => end(signal ?? String(code))))
  if (timer) clearTimeout(timer)
  return { ended, said }
}

/** Several programs write there, each in its own way. */
function firstError(said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() && !/^> |\b0 errors/.test(line))
  return oneLine(lines.find((line) => /error|fail|killed|memory|timed? ?out|circle/i.test(line)) ?? lines.at(-1) ?? '')
}
