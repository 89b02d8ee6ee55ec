import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { IdpIDP, IdpIDPStylingType } from '#gen/console/api'
import generalRules from '../../gen/console/rules/roster.idp.v1.UpdateOrganizationIDPRequest.json'
import { useOrganization } from '../address/place.ts'
import { call, write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { words as wizard } from '../add-provider/words.ts'
import { Check } from '../form/check.tsx'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { type Form, useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { kindOf } from '../providers/kinds.ts'
import { useMayThere, usePlace } from '../providers/place.ts'
import { claimWords } from './claim-words.ts'
import { Claims } from './claims.tsx'
import { Connection } from './connection.tsx'
import { SecretForm } from './secret-form.tsx'
import { Sessions } from './sessions.tsx'
import { steps } from './set-up-words.ts'
import { words } from './words.ts'

/** What one sets of a provider. */
export function Settings({ provider }: { provider: IdpIDP }) {
  const mayWrite = useMayThere('write')
  const [isOpen, setOpen] = useState(false)
  const { id, details, oidc, oauth } = provider
  const isSpoken = kindOf(provider) in steps
  const part = (title: string, form: ComponentChildren, action?: ComponentChildren) => (
    <div class="card form">
      <div class="title">
        <h2>{title}</h2>
        {action}
      </div>
      <fieldset disabled={mayWrite !== true}>{form}</fieldset>
    </div>
  )
  const replace = mayWrite && (oidc || oauth) && <button onClick={() => setOpen(true)}>{words.replaceSecret}</button>
  return (
    <div class="stack">
      {part(words.general, <General provider={provider} />)}
      {isSpoken && part(words.connection, <Connection provider={provider} />, replace)}
      {isSpoken && part(claimWords.claims, <Claims provider={provider} />)}
      {(oidc || oauth) && part(words.sessions, <Sessions provider={provider} />)}
      <div class="card form">
        <dl class="facts">
          <dt>{words.id}</dt>
          <dd>
            <code>{id}</code>
          </dd>
          <dd />
          <dt>{words.created}</dt>
          <dd>
            <Time at={details?.creationDate} />
          </dd>
          <dd />
        </dl>
      </div>
      {isOpen && <SecretForm provider={provider} onClose={() => setOpen(false)} />}
    </div>
  )
}

interface General extends Record<string, string> {
  name: string
  stylingType: IdpIDPStylingType
  autoRegister: string
  asksFirst: string
  refusesLinking: string
}

const generalOf = ({ name = '', stylingType = 'STYLING_TYPE_UNSPECIFIED', ...switches }: IdpIDP): General => ({
  name,
  stylingType,
  autoRegister: switches.autoRegister ? 'true' : '',
  asksFirst: switches.asksFirst ? 'true' : '',
  refusesLinking: switches.refusesLinking ? 'true' : '',
})

function General({ provider }: { provider: IdpIDP }) {
  const place = usePlace()
  const organization = useOrganization()
  const { id: idpId = '', details } = provider
  const form: Form<General> = useForm<General>({
    opened: generalOf(provider),
    sequence: details?.sequence ?? '',
    rules: generalRules as Rules,
    async send(changed, { sequence, key }) {
      // The instance's operation replaces the first three.
      const { name, stylingType, ...switches } = { ...form.values, ...changed }
      const request = {
        idpId,
        name,
        stylingType,
        autoRegister: switches.autoRegister === 'true',
        asksFirst: switches.asksFirst === 'true',
        refusesLinking: switches.refusesLinking === 'true',
      }
      const answer = await write(place.update, request, { organization, sequence, key })
      say(words.saved)
      void readAgain()
      return answer.details?.sequence
    },
    async theirs() {
      const { idp = {} } = await call(place.get, { idpId }, { organization })
      const { sequence = '', changeDate = '' } = idp.details ?? {}
      return { values: generalOf(idp), sequence, by: '', at: changeDate }
    },
  })
  const labels = {
    name: words.name,
    stylingType: words.styling,
    autoRegister: wizard.register,
    asksFirst: words.asksFirst,
    refusesLinking: words.refusesLinking,
  }
  return (
    <FormView form={form} labels={labels}>
      <Field form={form} name="name" label={labels.name} hint={words.nameHint} />
      {(kindOf(provider) === 'google' || form.values.stylingType === 'STYLING_TYPE_GOOGLE') && (
        <Choice
          form={form}
          name="stylingType"
          label={labels.stylingType}
          options={{ STYLING_TYPE_UNSPECIFIED: words.plain, STYLING_TYPE_GOOGLE: words.google }}
        />
      )}
      <Check
        form={form}
        name="autoRegister"
        label={labels.autoRegister}
        hint={place.isOfInstance ? `${wizard.registerInstance} ${wizard.registerHint}` : wizard.registerHint}
      />
      {form.values.autoRegister && (
        <Check form={form} name="asksFirst" label={labels.asksFirst} hint={words.asksFirstHint} />
      )}
      <Check form={form} name="refusesLinking" label={labels.refusesLinking} hint={words.refusesLinkingHint} />
    </FormView>
  )
}
