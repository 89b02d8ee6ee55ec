import type { IdpIDP } from '#gen/console/api'
import { kindNames, kindOf } from '../providers/kinds.ts'
import { words } from './words.ts'

/** What a record has by which Roster signs nobody in yet. */
export function Facts({ provider }: { provider: IdpIDP }) {
  const { saml, ldap } = provider
  const facts: [string, string | undefined][] = saml
    ? [
        ['Metadata', saml.metadataUrl || (saml.metadataXml && 'XML')],
        ['Binding', saml.binding?.replace('SAML_BINDING_', '')],
        ['NameID', saml.nameIdFormat?.replace('SAML_NAME_ID_FORMAT_', '')],
      ]
    : [
        ['Server', ldap?.servers?.join(', ')],
        ['Base DN', ldap?.baseDn],
        ['Bind DN', ldap?.bindDn],
        ['User base', ldap?.userBase],
        ['Object classes', ldap?.userObjectClasses?.join(', ')],
        ['User filters', ldap?.userFilters?.join(', ')],
      ]
  return (
    <div class="stack">
      <p class="soft">{words.notYet(kindNames[kindOf(provider)])}</p>
      <div class="card">
        <dl class="facts">
          {facts
            .filter(([, value]) => value)
            .map(([label, value]) => (
              <>
                <dt>{label}</dt>
                <dd>
                  <code>{value}</code>
                </dd>
                <dd />
              </>
            ))}
        </dl>
      </div>
    </div>
  )
}
