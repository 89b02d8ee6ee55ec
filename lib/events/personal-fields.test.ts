import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '../registry.ts'
import { personalFields } from './personal-fields.ts'

/** Texts of events that were read in review, and found to hold nothing personal. */
const reviewed: Record<string, string[]> = {
  'Ids, and a word of a short list': [
    'AuthenticationFailed.method',
    'AuthenticationFailed.reason',
    'AuthenticationTokenIssued.grantType',
    'IdpOrganizationNoted.state',
    'UserCredentialExpiring.kind',
    'UserEmailChanged.setBy',
    'UserEmailCodeRequested.askedBy',
    'UserEmailCodeRequested.cause',
    'UserEmailCodeReturned.askedBy',
    'UserEmailVerified.setBy',
    'UserOrganizationNoted.state',
    'UserPasswordCodeRequested.askedBy',
    'UserPasswordCodeReturned.askedBy',
    'WebhookDeactivated.cause',
    'WebhookOrganizationNoted.state',
  ],
  'A public key of a machine: it is random, and no name is in it': [
    'UserKeyAdded.algorithm',
    'UserPublicKey.crv',
    'UserPublicKey.e',
    'UserPublicKey.kty',
    'UserPublicKey.n',
    'UserPublicKey.x',
    'UserPublicKey.y',
  ],
  'Of an organization, project, role, provider or webhook: it stays when its author goes': [
    'AuthenticationTokenIssued.scope',
    'IdpChanged.name',
    'IdpJwt.headerName',
    'IdpJwt.issuer',
    'IdpJwt.jwtEndpoint',
    'IdpJwt.keysEndpoint',
    'IdpJwtAdded.name',
    'IdpLdap.baseDn',
    'IdpLdap.bindDn',
    'IdpLdap.servers',
    'IdpLdap.userBase',
    'IdpLdap.userFilters',
    'IdpLdap.userObjectClasses',
    'IdpLdapAdded.name',
    'IdpOauth.authorizationEndpoint',
    'IdpOauth.idAttribute',
    'IdpOauth.scopes',
    'IdpOauth.tokenEndpoint',
    'IdpOauth.userEndpoint',
    'IdpOauthAdded.name',
    'IdpOidc.issuer',
    'IdpOidc.scopes',
    'IdpOidcAdded.name',
    'IdpSaml.metadataUrl',
    'IdpSaml.metadataXml',
    'IdpSamlAdded.name',
    'MemberAdded.roles',
    'MemberChanged.roles',
    'OrganizationAdded.name',
    'OrganizationAdded.primaryDomain',
    'OrganizationChanged.name',
    'OrganizationDomainChanged.primaryDomain',
    'ProjectAdded.name',
    'ProjectChanged.name',
    'ProjectGrantAdded.roleKeys',
    'ProjectGrantChanged.roleKeys',
    'ProjectRoleAdded.displayName',
    'ProjectRoleAdded.group',
    'ProjectRoleAdded.roleKey',
    'ProjectRoleChanged.displayName',
    'ProjectRoleChanged.group',
    'ProjectRoleChanged.roleKey',
    'ProjectRoleRemoved.roleKey',
    'UserGrantAdded.roleKeys',
    'UserGrantChanged.roleKeys',
    'WebhookAdded.description',
    'WebhookAdded.eventTypes',
    'WebhookAdded.url',
    'WebhookChanged.description',
    'WebhookChanged.eventTypes',
    'WebhookChanged.url',
  ],
}

const option = registry.getExtension('roster.options.v1.personal')!
const isMarked = (field: DescField) => getOption(field, option) === true
const isText = ({ scalar, name }: DescField) => scalar === ScalarType.STRING && !/_ids?$/.test(name)
const events = [...registry].filter(
  (desc): desc is DescMessage => desc.kind === 'message' && desc.typeName.startsWith('roster.events.v1.'),
)

/** The messages of which a marked field has the whole. */
const covered = new Set(
  events.flatMap(({ fields }) => fields.flatMap((field) => (isMarked(field) && field.message ? [field.message] : []))),
)

test('each text of an event is marked as personal, or was found to hold nothing personal', () => {
  const unmarked = events
    .filter((message) => !covered.has(message))
    .flatMap(({ name, fields }) =>
      fields.filter((field) => isText(field) && !isMarked(field)).map(({ jsonName }) => `${name}.${jsonName}`),
    )
  expect(unmarked.toSorted()).toEqual(Object.values(reviewed).flat().toSorted())
})

test('a part of a message is personal only where the whole is: no event has it in plain', () => {
  for (const { fields } of events)
    for (const field of fields)
      if (field.message && !isMarked(field)) expect(field.message.fields.filter(isMarked)).toEqual([])
})

test('personal fields are known by the type of the event, and an unknown event has none', () => {
  expect(personalFields('user', 'human.added')).toEqual(['userName', 'profile', 'email'])
  expect(personalFields('user.email.code', 'failed')).toEqual(['failure'])
  expect(personalFields('user', 'removed')).toEqual([])
  expect(personalFields('user', 'not.known')).toEqual([])
})
