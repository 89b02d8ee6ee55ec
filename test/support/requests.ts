import { type DescMessage, fromJson, type JsonValue, type Message } from '@bufbuild/protobuf'
import { takeAliases } from '#lib/rpc/aliases'
import { method } from '#lib/rpc/methods'
import { validate } from '#lib/rpc/validate'

/** The request message of a method, such as `users.v1.UserService.SetEmail`. */
export const requestOf = (name: string): DescMessage => method(`roster.${name}`).desc.input

/** The faulty fields of a request in JSON. */
export function faults(name: string, json: JsonValue): string[] {
  const desc = requestOf(name)
  const message = fromJson(desc, json) as Message
  takeAliases(desc, message)
  return validate(desc, message).map(({ field }) => field)
}

/** Valid requests of methods, for the tests of rules. */
export const valid: Record<string, Record<string, JsonValue>> = {
  'users.v1.UserService.UpdateMyProfile': { firstName: 'A', lastName: 'B', displayName: 'C' },
  'users.v1.UserService.AddMachineUser': { userName: 'a', name: 'b' },
  'users.v1.UserService.SetEmail': { userId: 'u', email: 'a@example.com' },
  'idp.v1.IdentityProviderService.UpdateIDP': { idpId: 'i', name: 'n' },
  'idp.v1.IdentityProviderService.AddOIDCIDP': {
    name: 'n',
    clientId: 'c',
    clientSecret: 's',
    issuer: 'https://i.example',
  },
  'grants.v1.UserGrantService.AddUserGrant': { userId: 'u', projectId: 'p' },
  'users.v1.UserService.AddHumanUser': {
    userName: 'h',
    profile: { firstName: 'A', lastName: 'B' },
    email: { email: 'a@example.com' },
  },
  'users.v1.SessionService.CreateSession': { loginName: 'l', password: 'p' },
  'users.v1.UserService.VerifyEmail': { userId: 'u', verificationCode: 'c' },
  'grants.v1.OrganizationService.AddOrganizationMember': { userId: 'u', roles: ['ORG_OWNER'] },
  'notifier.v1.WebhookService.AddWebhook': { url: 'https://example.com' },
  'notifier.v1.WebhookService.UpdateWebhook': { webhookId: 'w', url: 'https://example.com' },
  'grants.v1.ProjectService.AddProjectRole': { projectId: 'p', roleKey: 'r', displayName: 'R' },
}
