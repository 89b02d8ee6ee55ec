import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificate } from '../../../services/gateway/testing/certificate.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import { call } from '../../e2e/clients/encodings.ts'
import { openPerson } from '../../e2e/conformance/person.ts'
import { startOwnHouse } from '../../e2e/own-house.ts'
import { ok, unique } from '../../examples/people.ts'
import { openBrowser } from '../../examples/sign-in.ts'
import { type Proxy, startProxy, withoutProxy } from '../../support/proxies.ts'
import { build, unlessThereIs } from '../build.ts'
import { expectOutcome } from '../outcomes.ts'
import type { Road } from '../roads.ts'
import { environment } from '../run-commands.ts'

const languages = [
  {
    language: 'Go',
    needs: ['go'],
    commands: 'go mod tidy && go build -o bin/ ./...',
    clients: {
      'go-oidc and x/oauth2': ['bin/goidc'],
      'zitadel/oidc': ['bin/zitadel'],
    },
    people: {
      'go-oidc and x/oauth2': ['bin/goidcperson'],
      'zitadel/oidc': ['bin/zitadelperson'],
    },
  },
  {
    language: 'Java',
    needs: ['java', 'mvn'],
    commands: 'mvn package',
    clients: { Nimbus: ['java', '-cp', 'target/classes:target/dependency/*', 'Client'] },
    people: { Nimbus: ['java', '-cp', 'target/classes:target/dependency/*', 'Person'] },
  },
  {
    language: 'Python',
    needs: ['python3'],
    commands: 'python3 -m venv .venv && .venv/bin/pip install authlib joserfc "pyjwt[crypto]" requests',
    clients: {
      Authlib: ['.venv/bin/python', 'client.py', 'Authlib'],
      PyJWT: ['.venv/bin/python', 'client.py', 'PyJWT'],
    },
    people: {},
  },
]

const certificate = makeCertificate()
const trusted = getCACertificates()
beforeAll(() => setDefaultCACertificates([...trusted, certificate.ca]))
afterAll(() => {
  setDefaultCACertificates(trusted)
  certificate.remove()
})

const redirectUri = 'https://app.example.com/callback'

// The issuer is PUBLIC_URL, which all services know. So each road has a Roster of its own.
const roads: Road['name'][] = ['plain', 'TLS', ...(withoutProxy('nginx') ? [] : ['behind nginx' as const])]
describe.each(roads)('by the road %s', (road) => {
  let proxy: Proxy | undefined
  let house: Awaited<ReturnType<typeof startOwnHouse>>
  let task: Record<'issuer' | 'certificate' | 'clientId' | 'clientSecret', string>
  let application: Record<'clientId' | 'clientSecret', string>

  beforeAll(async () => {
    const PORT = String(await freePort(0))
    proxy = road === 'behind nginx' ? await startProxy('nginx', [`127.0.0.1:${PORT}`], certificate) : undefined
    const issuer = proxy?.url ?? `${road === 'TLS' ? 'https' : 'http'}://localhost:${PORT}`
    const gateway = {
      plain: {},
      TLS: { TLS_CERT_FILE: certificate.cert, TLS_KEY_FILE: certificate.key },
      'behind nginx': { TRUSTED_PROXIES: '1' },
    }[road]
    house = await startOwnHouse({ moreGateways: [{ PORT, ...gateway }] }, { PUBLIC_URL: issuer })
    const machine = { userName: unique('client'), name: 'A client', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
    const { userId } = ok(await call('AddMachineUser', machine, house.machine))
    const { clientSecret } = ok(await call('AddMachineSecret', { userId }, house.machine))
    task = { issuer, certificate: road === 'plain' ? '' : certificate.cert, clientId: userId, clientSecret }
    const { id: projectId } = ok(await call('AddProject', { name: 'Shop' }, house.machine))
    const settings = {
      projectId,
      name: 'Shop',
      appType: 'OIDC_APP_TYPE_WEB',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
      grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
      redirectUris: [redirectUri],
    }
    application = ok(await call('AddOIDCApplication', settings, house.machine))
  })
  afterAll(async () => {
    await house?.stop()
    await proxy?.stop()
  })

  describe.each(languages)('in $language', ({ language, needs, commands, clients, people }) => {
    const why = unlessThereIs(...needs)

    test.skipIf(why).each(Object.entries<string[]>(clients))(
      `%s finds the endpoints, gets a token, and verifies it by the keys${why}`,
      async (client, [program, ...options]) => {
        const cwd = await build(`oauth/${language.toLowerCase()}`, {}, commands)
        const running = spawn(program!, options, { cwd, env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
        running.stdin.end(JSON.stringify(task))
        expect(await json(running.stdout)).toEqual({ subject: task.clientId, refused: true })
        expectOutcome({ client: `${language}, ${client}`, speaks: 'OAuth' }, road, 'discovery, token, keys')
      },
    )

    test.skipIf(why).each(Object.entries<string[]>(people))(
      `%s signs a person in, verifies the ID token, refreshes, and asks who it is${why}`,
      async (client, [program, ...options]) => {
        const cwd = await build(`oauth/${language.toLowerCase()}`, {}, commands)
        const running = spawn(program!, options, { cwd, env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
        const said = createInterface(running.stdout)[Symbol.asyncIterator]()
        const tell = (what: object) => running.stdin.write(`${JSON.stringify(what)}\n`)
        const hear = async () => JSON.parse((await said.next()).value ?? 'null') as Record<string, string>
        const { clientId, clientSecret } = application
        tell({ ...task, clientId, clientSecret, redirectUri })
        const { origin, pathname, searchParams } = new URL((await hear())['visit']!)
        const person = { userName: 'admin', password: house.adminPassword }
        const browser = openPerson(openBrowser(task.issuer), person, task.issuer)
        const { uri, answer } = await browser.go(origin + pathname, Object.fromEntries(searchParams))
        expect(uri).toBe(redirectUri)
        tell({ came: `${uri}?${String(new URLSearchParams(answer))}` })
        const administrator = { subject: 'admin', refreshed: 'admin', name: 'Roster Administrator' }
        expect(await hear()).toEqual({ ...administrator, refused: true })
        const row = { client: `${language}, ${client}`, speaks: 'OpenID Connect' }
        expectOutcome(row, road, 'code, PKCE, ID token, refresh, userinfo')
      },
    )
  })
})
