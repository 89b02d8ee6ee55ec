import type { IdpIDP } from '#gen/console/api'
import jwtRules from '../../gen/console/rules/roster.idp.v1.UpdateIDPJWTConfigRequest.json'
import oauthRules from '../../gen/console/rules/roster.idp.v1.UpdateIDPOAuthConfigRequest.json'
import oidcRules from '../../gen/console/rules/roster.idp.v1.UpdateIDPOIDCConfigRequest.json'
import { words as wizard } from '../add-provider/words.ts'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { Lines } from '../form/lines.tsx'
import type { Rules } from '../form/rules.ts'
import { type Form, useForm } from '../form/use-form.ts'
import { useIssuer } from '../frameworks/issuer.ts'
import { say } from '../pieces/notices.tsx'
import { kindOf } from '../providers/kinds.ts'
import { usePlace } from '../providers/place.ts'
import { type Connection as Values, connectionOf, mayShareCallback, requestOf } from './connection-values.ts'
import { redirectUriOf, usualAudience } from './set-up.tsx'
import { words as w } from './words.ts'

const rules: Rules = { ...(jwtRules as Rules), ...(oauthRules as Rules), ...(oidcRules as Rules) }

/** How a provider is reached. */
export function Connection({ provider }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const issuer = useIssuer()
  const { id: idpId = '', details, oauth, jwt } = provider
  const form: Form<Values> = useForm<Values>({
    opened: connectionOf(provider),
    sequence: details?.sequence ?? '',
    rules,
    lists: ['scopes', 'tenants.ids'],
    async send(changed, { sequence, key }) {
      const method = jwt ? place.updateJwt : oauth ? place.updateOauth : place.updateOidc
      const request = { idpId, ...requestOf(changed, { ...form.values, ...changed } as Values) }
      const answer = await write(method, request as never, { organization, sequence, key })
      say(w.saved)
      void readAgain()
      return answer.details?.sequence
    },
    async theirs() {
      const { idp = {} } = await call(place.get, { idpId }, { organization })
      const { sequence = '', changeDate = '' } = idp.details ?? {}
      return { values: connectionOf(idp), sequence, by: '', at: changeDate }
    },
  })
  const kind = kindOf(provider)
  const labels = {
    ...allLabels,
    ...(jwt && { issuer: wizard.jwtIssuer }),
    ...(kind === 'apple' && { clientId: wizard.servicesId }),
  }
  const field = (name: keyof typeof allLabels, hint?: string) => (
    <Field form={form} name={name} label={labels[name]} {...(hint && { hint })} />
  )
  const scopes = <Lines form={form} name="scopes" label={labels.scopes} hint={w.scopesHint} />
  return (
    <FormView form={form} labels={labels}>
      {jwt ? (
        <>
          {field('jwtEndpoint', wizard.jwtEndpointHint)}
          {field('issuer')}
          {field('keysEndpoint', wizard.keysHint)}
          {field('headerName')}
          {field('audience', w.audienceHint(usualAudience(issuer, idpId)))}
        </>
      ) : oauth ? (
        <>
          {field('authorizationEndpoint')}
          {field('tokenEndpoint', w.moved)}
          {field('userEndpoint', wizard.userHint)}
          {kind === 'oauth' && field('idAttribute', wizard.idAttributeHint)}
          {field('clientId')}
          {scopes}
        </>
      ) : (
        <>
          {field('issuer', w.moved)}
          {kind === 'microsoft' && (
            <Lines form={form} name="tenants.ids" label={labels['tenants.ids']} hint={w.tenantsHint} />
          )}
          {field('clientId')}
          {kind === 'apple' && (
            <div class="both">
              {field('appleKey.teamId')}
              {field('appleKey.keyId')}
            </div>
          )}
          {scopes}
          {mayShareCallback(provider) && (
            <Choice
              form={form}
              name="callback"
              label={labels.callback}
              options={Object.fromEntries(
                callbacks.map((callback) => [callback, redirectUriOf(issuer ?? '', { id: idpId, oidc: { callback } })]),
              )}
              hint={w.callbackHint}
            />
          )}
        </>
      )}
    </FormView>
  )
}

const callbacks = ['IDP_CALLBACK_OWN', 'IDP_CALLBACK_ZITADEL', 'IDP_CALLBACK_ZITADEL_V1'] as const

const allLabels = {
  issuer: w.issuer,
  clientId: w.clientId,
  scopes: w.scopes,
  callback: w.callback,
  'tenants.ids': w.tenants,
  'appleKey.teamId': wizard.teamId,
  'appleKey.keyId': wizard.keyId,
  authorizationEndpoint: wizard.authorization,
  tokenEndpoint: wizard.token,
  userEndpoint: wizard.user,
  idAttribute: wizard.idAttribute,
  jwtEndpoint: wizard.jwtEndpoint,
  keysEndpoint: wizard.keys,
  headerName: wizard.header,
  audience: w.audience,
}
