import type { IdpClaimMapping, IdpIDP } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.idp.v1.SetIDPClaimsRequest.json'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { Lines } from '../form/lines.tsx'
import { linesOf } from '../form/merge.ts'
import type { Rules } from '../form/rules.ts'
import { type Form, useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { usePlace } from '../providers/place.ts'
import { claimWords as w } from './claim-words.ts'
import { words } from './words.ts'

type Values = Record<string, string>
type Part = keyof IdpClaimMapping

/** The claim of OpenID Connect for each part of a person. */
const usual: Record<Part, string> = {
  userName: 'preferred_username',
  givenName: 'given_name',
  familyName: 'family_name',
  displayName: 'name',
  nickName: 'nickname',
  email: 'email',
  emailVerified: 'email_verified',
  language: 'locale',
}
const parts = Object.keys(usual) as Part[]
/** In the form: no claim is read. The API has an empty name for it, which says in the form that it is the usual one. */
const none = '-'

function valuesOf({ claims }: IdpIDP): Values {
  const { mapping = {}, isAutoUpdate, secondFactor } = claims ?? {}
  return {
    isAutoUpdate: isAutoUpdate ? 'true' : '',
    ...Object.fromEntries(
      parts.map((part) => [`mapping.${part}`, mapping[part] === '' ? none : (mapping[part] ?? '')]),
    ),
    'secondFactor.amr': (secondFactor?.amr ?? []).join('\n'),
    'secondFactor.acr': (secondFactor?.acr ?? []).join('\n'),
  }
}

function requestOf(values: Values) {
  const named = parts.flatMap((part): [Part, string][] => {
    const text = values[`mapping.${part}`]!
    return text === '' ? [] : [[part, text === none ? '' : text]]
  })
  const [amr, acr] = [linesOf(values['secondFactor.amr']!), linesOf(values['secondFactor.acr']!)]
  return {
    isAutoUpdate: values['isAutoUpdate'] === 'true',
    ...(named.length > 0 && { mapping: Object.fromEntries(named) }),
    ...(amr.length + acr.length > 0 && { secondFactor: { amr, acr } }),
  }
}

/** What becomes of the claims of a provider. */
export function Claims({ provider }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const { id: idpId = '', details, oauth } = provider
  const form: Form<Values> = useForm<Values>({
    opened: valuesOf(provider),
    sequence: details?.sequence ?? '',
    rules: rules as Rules,
    lists: ['secondFactor.amr', 'secondFactor.acr'],
    async send(changed, { sequence, key }) {
      // All of it is replaced.
      const request = { idpId, ...requestOf({ ...form.values, ...changed } as Values) }
      const answer = await write(place.setClaims, request, { organization, sequence, key })
      say(words.saved)
      void readAgain()
      return answer.details?.sequence
    },
    async theirs() {
      const { idp = {} } = await call(place.get, { idpId }, { organization })
      const { sequence = '', changeDate = '' } = idp.details ?? {}
      return { values: valuesOf(idp), sequence, by: '', at: changeDate }
    },
  })
  return (
    <FormView form={form} labels={labels}>
      <Check form={form} name="isAutoUpdate" label={labels['isAutoUpdate']!} hint={w.followHint} />
      <fieldset class="part">
        <legend>{w.mapping}</legend>
        <small>{w.mappingHint}</small>
        <div class="both">
          {parts.map((part) => (
            <Field
              key={part}
              form={form}
              name={`mapping.${part}`}
              label={labels[`mapping.${part}`]!}
              placeholder={usual[part]}
            />
          ))}
        </div>
      </fieldset>
      {!oauth && (
        <fieldset class="part">
          <legend>{w.second}</legend>
          <small>{w.secondHint}</small>
          <Lines form={form} name="secondFactor.amr" label={labels['secondFactor.amr']!} placeholder="mfa" />
          <Lines form={form} name="secondFactor.acr" label={labels['secondFactor.acr']!} />
        </fieldset>
      )}
    </FormView>
  )
}

const labels: Values = {
  isAutoUpdate: w.follow,
  'mapping.userName': w.userName,
  'mapping.givenName': w.givenName,
  'mapping.familyName': w.familyName,
  'mapping.displayName': w.displayName,
  'mapping.nickName': w.nickName,
  'mapping.email': w.email,
  'mapping.emailVerified': w.emailVerified,
  'mapping.language': w.language,
  'secondFactor.amr': 'amr',
  'secondFactor.acr': 'acr',
}
