import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Browser, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { call } from '../../e2e/clients/encodings.ts'
import { startOwnHouse } from '../../e2e/own-house.ts'
import type { Operation } from '../../examples/contract.ts'
import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { openChromium } from '../../support/browsers/chromium.ts'
import { environment } from '../run-commands.ts'
import { startRecorder } from './recorder.ts'

export type Place = Awaited<ReturnType<typeof openPlace>>

/**
 * What docs/sign-in.md has made when its pages begin: a Roster, a project, a role, and a person who has it. `settings`: of that
 * Roster.
 */
export async function openPlace(settings: Record<string, string> = {}) {
  const port = await freePort(0)
  const issuer = `http://localhost:${port}`
  // Libraries refresh what has less than a minute left: at once.
  const house = await startOwnHouse({}, { PUBLIC_URL: issuer, PERSON_TOKEN_LIFETIME: '60', ...settings })
  const recorder = await startRecorder(port, house.url)
  const browser: Browser = await openChromium()
  const programs: ChildProcess[] = []
  const act = async (operation: Operation, request: JsonObject) => ok(await call(operation, request, house.machine))

  const person = { userName: unique('ada'), password: unique('Password'), email: uniqueEmail() }
  const human = { ...person, profile, email: { email: person.email, isVerified: true } }
  const { userId } = await act('AddHumanUser', human)
  const { id: projectId } = await act('AddProject', { name: 'Shop' })
  await act('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' })
  await act('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
  const other = { userName: unique('bob'), password: unique('Password') }
  await act('AddHumanUser', { ...other, profile, email: { email: uniqueEmail(), isVerified: true } })

  return {
    issuer,
    projectId,
    recorder,
    person: { ...person, userId },
    /** Somebody without a role. */
    other,
    act,

    /** Runs commands of a page, which begin where docs/sign-in.md ends. Returns the JSON that they print. */
    async paste(commands: string): Promise<any> {
      const headers = { AUTH: `Authorization: Bearer ${house.adminToken}`, JSON: 'Content-Type: application/json' }
      const env = { ...environment, ...headers, ROSTER: issuer, PROJECT: projectId }
      return JSON.parse((await promisify(execFile)('bash', ['-ec', commands], { env })).stdout)
    },

    /** Starts a program, and waits until its port answers. Returns what it has said so far, whenever that is asked. */
    async start(command: string[], origin: string, options: { cwd: string; env: Record<string, string> }) {
      const [file, ...words] = command
      const env = { ...environment, ...options.env }
      // A bash whose input is a socket, as Node's pipes are, reads ~/.bashrc, which may put other programs first.
      const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
      const program = spawn(file!, words, { cwd: options.cwd, env, detached: true, stdio })
      programs.push(program)
      let said = ''
      for (const stream of [program.stdout, program.stderr])
        stream.on('data', (chunk: Buffer) => (said += String(chunk)))
      const answers = async () => {
        if (program.exitCode !== null) throw new Error(said)
        expect((await fetch(origin, { redirect: 'manual' }).catch(() => undefined))?.status, said).toBeDefined()
      }
      await vi.waitFor(answers, { timeout: 60_000, interval: 200 })
      return () => said
    },

    /** A browser in which nobody is signed in. */
    async openPage(): Promise<Page> {
      return (await browser.newContext()).newPage()
    },

    /** Signs the person in on Roster's pages. */
    async enter(page: Page, { userName, password }: { userName: string; password: string } = person) {
      await page.getByLabel('Login name').fill(userName)
      await page.getByLabel('Password').fill(password)
      await page.keyboard.press('Enter')
    },

    /** Signs the person in on Roster's pages, and allows the application. */
    async signIn(page: Page, who: { userName: string; password: string } = person) {
      await this.enter(page, who)
      await page.getByRole('button', { name: 'Allow', exact: true }).click()
    },

    async close() {
      for (const { pid } of programs) endGroup(pid!)
      await browser.close()
      recorder.stop()
      await house.stop()
    },
  }
}

/** A program can have others of its own, such as a server that reloads. */
function endGroup(pid: number) {
  try {
    process.kill(-pid)
  } catch {
    // It has ended.
  }
}
