import type { IdpIDP } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.idp.v1.SetIDPSessionsRequest.json'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { type Form, useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { usePlace } from '../providers/place.ts'
import { words } from './words.ts'

interface Values extends Record<string, string> {
  keepTokens: string
  logoutAtProvider: string
}

const valuesOf = ({ sessions }: IdpIDP): Values => ({
  keepTokens: sessions?.keepTokens ? 'true' : '',
  logoutAtProvider: sessions?.logoutAtProvider ? 'true' : '',
})

/** What is kept of a sign-in there, and what a sign-out does. */
export function Sessions({ provider }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const { id: idpId = '', details, oidc } = provider
  const form: Form<Values> = useForm<Values>({
    opened: valuesOf(provider),
    sequence: details?.sequence ?? '',
    rules: rules as Rules,
    async send(changed, { sequence, key }) {
      // All of it is replaced.
      const { keepTokens, logoutAtProvider } = { ...form.values, ...changed }
      const request = { idpId, keepTokens: keepTokens === 'true', logoutAtProvider: logoutAtProvider === 'true' }
      const answer = await write(place.setSessions, request, { organization, sequence, key })
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
      <Check form={form} name="keepTokens" label={labels['keepTokens']!} hint={words.keepTokensHint} />
      {oidc && (
        <Check form={form} name="logoutAtProvider" label={labels['logoutAtProvider']!} hint={words.logoutHint} />
      )}
    </FormView>
  )
}

const labels: Record<string, string> = { keepTokens: words.keepTokens, logoutAtProvider: words.logout }
