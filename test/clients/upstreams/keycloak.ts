import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, unlessThereAre } from '../build.ts'
import { startProgram } from './start-program.ts'
import type { ForeignUpstream, RunningUpstream } from './upstream.ts'

const clientId = 'roster'
const clientSecret = 'the secret of Roster at Keycloak'
const version = '26.7.0'
const person = { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
const password = 'the password of Grace'

/** Keycloak in its development mode, with a realm that it reads at the start. */
export const keycloak: ForeignUpstream = {
  name: 'Keycloak',
  get why() {
    return unlessThereAre('java', 'jar', 'mvn')
  },
  issuerAt: (origin) => `${origin}/realms/company`,
  start,
  person,
  async signIn(page) {
    // Whom it knows, it asks for the password alone.
    await page.locator('#password').waitFor()
    const name = page.locator('#username')
    if (await name.isVisible()) await name.fill('grace')
    await page.locator('#password').fill(password)
    await page.locator('#password').press('Enter')
  },
}

async function start(port: number, redirectUri: string): Promise<RunningUpstream> {
  const name = `keycloak-quarkus-dist-${version}.zip`
  const unpacked = await build(
    'keycloak',
    {},
    [
      `mvn -B -q dependency:copy -Dartifact=org.keycloak:keycloak-quarkus-dist:${version}:zip -DoutputDirectory=.`,
      `jar xf ${name}`,
      `rm ${name}`,
    ].join('\n'),
  )
  const folder = mkdtempSync(join(tmpdir(), 'roster-keycloak-'))
  cpSync(join(unpacked, `keycloak-${version}`), folder, { recursive: true })
  mkdirSync(join(folder, 'data/import'), { recursive: true })
  writeFileSync(join(folder, 'data/import/company-realm.json'), JSON.stringify(realmWith(redirectUri)))
  const words = ['start-dev', '--import-realm', '--cache=local', '--http-host=127.0.0.1', `--http-port=${port}`]
  const well = `${keycloak.issuerAt(`http://127.0.0.1:${port}`)}/.well-known/openid-configuration`
  const stop = await startProgram(['sh', join(folder, 'bin/kc.sh'), ...words], {}, well, 540_000)
  return {
    clientId,
    clientSecret,
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

const realmWith = (redirectUri: string) => ({
  realm: 'company',
  enabled: true,
  sslRequired: 'none',
  clients: [
    {
      clientId,
      secret: clientSecret,
      protocol: 'openid-connect',
      publicClient: false,
      standardFlowEnabled: true,
      redirectUris: [redirectUri],
      attributes: { 'pkce.code.challenge.method': 'S256' },
    },
  ],
  users: [
    {
      username: 'grace',
      ...person,
      enabled: true,
      emailVerified: true,
      credentials: [{ type: 'password', value: password, temporary: false }],
    },
  ],
})
