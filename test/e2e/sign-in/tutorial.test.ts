import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectRoot } from '../../../deploy/local/home.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import type { ExampleHuman } from '../../examples/people.ts'
import { authorizePath, callbackOf, openBrowser, redeem } from '../../examples/sign-in.ts'
import { recordSecret } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

const text = readFileSync(join(projectRoot, 'docs/sign-in.md'), 'utf8')
/** What a reader pastes. test/clients/sign-in runs the shop itself. */
const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, lines]) => lines!)
const shop = blocks.findIndex((lines) => lines.includes('npm start'))
const [pasted, explaining] = [blocks.slice(0, shop), blocks.slice(shop + 1)]

let url: string
let house: Awaited<ReturnType<typeof startOwnHouse>>
const folder = mkdtempSync(join(tmpdir(), 'roster-tutorial-'))
beforeAll(async () => {
  const port = String(await freePort(0))
  url = `http://localhost:${port}`
  house = await startOwnHouse({}, { PORT: port, PUBLIC_URL: url })
  mkdirSync(join(folder, '.roster'))
  writeFileSync(join(folder, '.roster/admin-token'), house.adminToken)
})
afterAll(async () => {
  await house?.stop()
  rmSync(folder, { recursive: true })
})

test('the lines of docs/sign-in.md, pasted in their order, let a person sign in with name, address and role', async () => {
  expect(pasted).toHaveLength(4)
  const stdout = await paste([...pasted, 'echo "\n$CLIENT_ID $CLIENT_SECRET"'])
  expect(stdout).not.toContain('"message"')
  const [clientId = '', clientSecret = ''] = stdout.trim().split('\n').at(-1)!.split(' ')
  recordSecret(clientSecret)
  const [, password = ''] = /"password":"(.+?)"/.exec(text)!
  const [, redirect_uri = ''] = /"redirectUris":\["(.+?)"\]/.exec(text)!

  const application = { clientId, clientSecret } as Parameters<typeof redeem>[0]
  const path = authorizePath(application, { redirect_uri, scope: 'openid profile email offline_access' })
  const ada = { userName: 'ada', password } as ExampleHuman
  const callback = await callbackOf(ada, path, openBrowser(url))
  const { body } = await redeem(application, callback.searchParams.get('code')!, { redirect_uri }, url)
  expect(body, callback.href).toMatchObject({ refresh_token: expect.any(String) })
  expect(decodeJwt(body.id_token)).toMatchObject({
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    email_verified: true,
    roles: ['reader'],
  })

  const variables = pasted[0]!.split('\n').slice(0, 2)
  const lines = explaining.map((block) => block.replace('THE_TOKEN', body.access_token))
  const explained = await paste([variables.join('\n'), ...lines])
  expect(explained).toContain('"outcome":"SIGN_IN_OUTCOME_SUCCEEDS"')
  expect(explained).toContain('"active":true')
})

async function paste(lines: string[]): Promise<string> {
  const commands = lines.join('\n').replaceAll('http://localhost:8080', url)
  return (await promisify(execFile)('bash', ['-c', commands], { cwd: folder })).stdout
}
