import { testServers } from '../support/servers.ts'
import { type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { ApplicationServiceDefinition } from '#gen/roster/grants/v1/application_service'
import { InstanceServiceDefinition } from '#gen/roster/grants/v1/instance_service'
import { OrganizationDomainServiceDefinition } from '#gen/roster/grants/v1/organization_domain_service'
import { OrganizationServiceDefinition } from '#gen/roster/grants/v1/organization_service'
import { PermissionServiceDefinition } from '#gen/roster/grants/v1/permission_service'
import { ProjectMemberServiceDefinition } from '#gen/roster/grants/v1/project_member_service'
import { ProjectServiceDefinition } from '#gen/roster/grants/v1/project_service'
import { UserGrantServiceDefinition } from '#gen/roster/grants/v1/user_grant_service'
import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { OrganizationIdentityProviderServiceDefinition } from '#gen/roster/idp/v1/organization_identity_provider_service'
import { OrganizationProviderServiceDefinition } from '#gen/roster/idp/v1/organization_provider_service'
import { ProviderServiceDefinition } from '#gen/roster/idp/v1/provider_service'
import { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import { AuditServiceDefinition } from '#gen/roster/notifier/v1/audit_service'
import { DeliveryServiceDefinition } from '#gen/roster/notifier/v1/delivery_service'
import { EventServiceDefinition } from '#gen/roster/notifier/v1/event_service'
import { MailServiceDefinition } from '#gen/roster/notifier/v1/mail_service'
import { WebhookServiceDefinition } from '#gen/roster/notifier/v1/webhook_service'
import { AuthRequestServiceDefinition } from '#gen/roster/users/v1/auth_request_service'
import { CredentialServiceDefinition } from '#gen/roster/users/v1/credential_service'
import { InternalServiceDefinition as NotifierInternal } from '#gen/roster/notifier/v1/internal_service'
import { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import { AccountServiceDefinition } from '#gen/roster/users/v1/account_service'
import { InvitationServiceDefinition } from '#gen/roster/users/v1/invitation_service'
import { CustomLoginPolicyServiceDefinition } from '#gen/roster/users/v1/custom_login_policy_service'
import { LoginPolicyServiceDefinition } from '#gen/roster/users/v1/login_policy_service'
import { OAuthServiceDefinition } from '#gen/roster/users/v1/oauth_service'
import { PasswordServiceDefinition } from '#gen/roster/users/v1/password_service'
import { SessionServiceDefinition } from '#gen/roster/users/v1/session_service'
import { SettingsServiceDefinition } from '#gen/roster/users/v1/settings_service'
import { SignInServiceDefinition } from '#gen/roster/users/v1/sign_in_service'
import { UserServiceDefinition } from '#gen/roster/users/v1/user_service'
import type { RosterError } from '#lib/errors'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { takeAliases } from '#lib/rpc/aliases'
import { type AskingNats, callBytes, type MethodDefinition } from '#lib/rpc/call'
import type { Call } from '#lib/rpc/headers'
import { methods } from '#lib/rpc/methods'
import { serve, type Served } from '#lib/rpc/serve'
import { testReader } from '../support/caller-keys.ts'
import { callOf, connect, silent } from '../support/rpc.ts'
import { smuggle, validMessage } from '../support/smuggling.ts'
import { validate } from '#lib/rpc/validate'

const definitions = [
  UserServiceDefinition,
  PasswordServiceDefinition,
  SessionServiceDefinition,
  AuthRequestServiceDefinition,
  CredentialServiceDefinition,
  OAuthServiceDefinition,
  InvitationServiceDefinition,
  CustomLoginPolicyServiceDefinition,
  LoginPolicyServiceDefinition,
  SettingsServiceDefinition,
  SignInServiceDefinition,
  AccountServiceDefinition,
  UsersInternal,
  InstanceServiceDefinition,
  OrganizationServiceDefinition,
  OrganizationDomainServiceDefinition,
  PermissionServiceDefinition,
  ProjectServiceDefinition,
  ProjectMemberServiceDefinition,
  ApplicationServiceDefinition,
  UserGrantServiceDefinition,
  GrantsInternal,
  IdentityProviderServiceDefinition,
  OrganizationIdentityProviderServiceDefinition,
  ProviderServiceDefinition,
  OrganizationProviderServiceDefinition,
  IdpInternal,
  EventServiceDefinition,
  WebhookServiceDefinition,
  AuditServiceDefinition,
  DeliveryServiceDefinition,
  MailServiceDefinition,
  NotifierInternal,
]
const codecs = new Map<string, MethodDefinition<any, any>>(
  definitions.flatMap((definition) =>
    Object.values(definition.methods).map((codec) => [`${definition.fullName}.${codec.name}`, codec] as const),
  ),
)

const root = { ...callOf().caller, instanceRoles: ['IAM_OWNER'] }
/** The requests that reached an operation, by request id. */
const executed = new Map<string, unknown>()
let nats: Nats
let gateway: AskingNats
let services: Service[] = []

beforeAll(async () => {
  const { natsUrl } = testServers()
  ;[nats, gateway] = await Promise.all([connect(natsUrl.admin, 'users'), connect(natsUrl.admin, 'gateway')])
  const all = definitions.map((definition): Served<object> => {
    const handle = (codec: MethodDefinition<any, any>) => async (_: object, request: unknown, call: Call) => {
      executed.set(call.requestId, request)
      return codec.responseType.decode(new Uint8Array())
    }
    const operations = Object.entries(definition.methods).map(([name, codec]) => [name, handle(codec)])
    return { definition, operations: Object.fromEntries(operations) }
  })
  services = await Promise.all(
    (['users', 'grants', 'idp', 'notifier'] as const).map((name) => {
      const own = all.filter(({ definition }) => definition.fullName.startsWith(`roster.${name}.`))
      return serve({ name, nats, log: silent, context: {}, services: own, readCaller: testReader(name) })
    }),
  )
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await Promise.all([nats?.connection.close(), gateway?.connection.close()])
})

test('this covers every method of proto/', () => expect([...codecs.keys()].sort()).toEqual([...methods.keys()].sort()))

// One decoder reads a message wherever it is.
const known = new Set<DescMessage>()

test.for([...methods.values()])(
  '$subject executes exactly the validated request, or none',
  async ({ subject, desc }) => {
    const [{ input }, codec] = [desc, codecs.get(subject)!]
    const send = async (requestId: string, bytes: Uint8Array) => {
      const call = callOf(root, { requestId, deadline: Date.now() + 60_000 })
      await callBytes(gateway, subject, bytes, call).catch((error: RosterError) => {
        expect(error, requestId).toMatchObject({ code: 3 })
      })
      const request = executed.get(requestId)
      if (request === undefined) return false
      executed.delete(requestId)
      const bytesAgain = codec.requestType.encode(request).finish()
      expect(validate(input, fromBinary(input, bytesAgain)), requestId).toEqual([])
      const message = fromBinary(input, bytes)
      takeAliases(input, message)
      expect(request, requestId).toEqual(codec.requestType.decode(toBinary(input, message)))
      return true
    }
    // A valid message must reach the operation. Otherwise a message smuggled into it could not either.
    expect(await send('valid', toBinary(input, validMessage(input)))).toBe(true)
    const all = [...smuggle(input, known)]
    expect(await send('unknown', all.find(({ name }) => name === 'and an unknown field')!.bytes)).toBe(true)
    for (let at = 0; at < all.length; at += 100)
      await Promise.all(all.slice(at, at + 100).map(({ name, bytes }, index) => send(`${at + index} ${name}`, bytes)))
  },
)
