import { useState } from 'preact/hooks'
import type { GrantsOrganization } from '#gen/console/api'
import domainRules from '../../gen/console/rules/roster.grants.v1.SetPrimaryDomainRequest.json'
import nameRules from '../../gen/console/rules/roster.grants.v1.UpdateOrganizationRequest.json'
import { call, write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

const service = 'roster.grants.v1.OrganizationService'

/** The name of the organization, and the domain of its people. */
export function Settings({ organization }: { organization: GrantsOrganization }) {
  const mayWrite = useMay('org.write')
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="card">
      <div class="title">
        <h2>{words.settings}</h2>
      </div>
      <fieldset disabled={mayWrite === false}>
        <NameForm organization={organization} />
      </fieldset>
      <dl class="facts">
        <dt>{words.domain}</dt>
        <dd>
          <code>{organization.primaryDomain}</code>
        </dd>
        <dd>
          {mayWrite && (
            <button aria-label={words.changeDomain} onClick={() => setOpen(true)}>
              {common.change}
            </button>
          )}
        </dd>
        <dt>{words.id}</dt>
        <dd>
          <code>{organization.id}</code>
        </dd>
        <dd />
        <dt>{words.created}</dt>
        <dd>
          <Time at={organization.details?.creationDate} />
        </dd>
        <dd />
      </dl>
      {isOpen && <DomainForm organization={organization} onClose={() => setOpen(false)} />}
    </div>
  )
}

function NameForm({ organization: { name = '', details } }: { organization: GrantsOrganization }) {
  const organization = useOrganization()
  const form = useForm({
    opened: { name },
    sequence: details?.sequence ?? '',
    rules: nameRules as Rules,
    async send(changed, { sequence, key }) {
      const { details: now } = await write(`${service}/UpdateOrganization`, changed, { organization, sequence, key })
      say(words.saved)
      void readAgain()
      return now?.sequence
    },
    async theirs() {
      const { organization: now } = await call(`${service}/GetMyOrganization`, {}, { organization })
      const { sequence = '', changeDate = '' } = now?.details ?? {}
      return { values: { name: now?.name ?? '' }, sequence, by: '', at: changeDate }
    },
  })
  return (
    <FormView form={form} labels={{ name: words.name }}>
      <Field form={form} name="name" label={words.name} />
    </FormView>
  )
}

function DomainForm({ organization: shown, onClose }: { organization: GrantsOrganization; onClose: () => void }) {
  const organization = useOrganization()
  const form = useForm({
    opened: { domain: shown.primaryDomain ?? '' },
    sequence: shown.details?.sequence ?? '',
    rules: domainRules as Rules,
    async send({ domain = '' }, { sequence, key }) {
      const { details } = await write(`${service}/SetPrimaryDomain`, { domain }, { organization, sequence, key })
      say(words.domainChanged)
      void readAgain()
      onClose()
      return details?.sequence
    },
  })
  return (
    <Dialog title={words.changeDomain} onClose={onClose}>
      <FormView form={form} labels={{ domain: words.domain }} onCancel={onClose}>
        <Field form={form} name="domain" label={words.domain} hint={words.domainHint} />
      </FormView>
    </Dialog>
  )
}
