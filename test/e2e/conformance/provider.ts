import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { JsonObject } from '@bufbuild/protobuf'
import postgres from 'postgres'
import { freePort } from '../../../deploy/local/ports.ts'
import { makeCertificate } from '../../../services/gateway/testing/certificate.ts'
import type { Operation } from '../../examples/contract.ts'
import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { shiftClock } from '../../support/shift-clock.ts'
import { call } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'
import { openLogoutReceiver } from './logout-receiver.ts'

export type Provider = Awaited<ReturnType<typeof startProvider>>

/** A Roster of its own over https, whose time the tests move on: its issuer, and what the suite is configured with. */
export async function startProvider() {
  const certificate = makeCertificate()
  const trusted = getCACertificates()
  setDefaultCACertificates([...trusted, certificate.ca])
  const PORT = String(await freePort(0))
  const issuer = `https://localhost:${PORT}`
  const gateway = { PORT, TLS_CERT_FILE: certificate.cert, TLS_KEY_FILE: certificate.key }
  const house = await startOwnHouse(
    { moreGateways: [gateway] },
    { PUBLIC_URL: issuer, WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', SWEEP_INTERVAL: '1' },
  )
  const sql = postgres(house.servers.serviceDatabaseUrls.users, { max: 1, onnotice: () => {} })
  const receiver = await openLogoutReceiver(certificate)
  let shifted = 0

  const act = async (operation: Operation, request: JsonObject, organization?: string) =>
    ok(await call(operation, request, { ...house.machine, organization }))
  const { organizationId: home } = await act('AddOrganization', { name: unique('Home') })
  const person = { userName: unique('ada'), password: unique('Password') }
  const email = { email: uniqueEmail(), isVerified: true }
  const { userId } = await act('AddHumanUser', { ...person, profile, email }, home)
  const { id: projectId } = await act('AddProject', { name: unique('Project') }, home)
  const redirectUri = 'https://suite.example.com/test/a/roster/callback'
  const postLogoutRedirectUri = 'https://suite.example.com/test/a/roster/post_logout_redirect'
  const addClient = async (method: 'BASIC' | 'POST', more: JsonObject = {}) => {
    const { appId, clientId, clientSecret } = await act(
      'AddOIDCApplication',
      {
        projectId,
        name: unique('Client'),
        appType: 'OIDC_APP_TYPE_WEB',
        authMethodType: `OIDC_AUTH_METHOD_TYPE_${method}`,
        grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
        redirectUris: [redirectUri],
        postLogoutRedirectUris: [postLogoutRedirectUri],
        allowMissingPkce: true,
        ...more,
      },
      home,
    )
    return { appId, clientId, clientSecret, redirectUri, postLogoutRedirectUri, posts: method === 'POST' }
  }
  return {
    issuer,
    certificate,
    person: { ...person, userId },
    clients: await Promise.all((['BASIC', 'BASIC', 'POST'] as const).map((method) => addClient(method))),
    addClient,
    act: (operation: Operation, request: JsonObject) => act(operation, request, home),
    restart: house.restart,
    receiver,
    async wait(seconds: number) {
      shifted += seconds
      await shiftClock(sql, `${shifted} seconds`)
    },
    async stop() {
      await sql.end()
      await house.stop()
      await receiver.stop()
      setDefaultCACertificates(trusted)
      certificate.remove()
    },
  }
}
