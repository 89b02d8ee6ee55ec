import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import ofOne from '../../gen/console/rules/roster.users.v1.AddInvitationRequest.json'
import { write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { useHere, useOrganization, useTitle } from '../address/place.ts'
import { Area } from '../form/area.tsx'
import { Checks } from '../form/checks.tsx'
import { Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { linesOf } from '../form/merge.ts'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { say } from '../pieces/notices.tsx'
import { organizationRoles } from '../texts/roles.ts'
import { addressesOf, type Refused, resultsOf } from './addresses.ts'
import { Grants, grantsOf } from './grants.tsx'
import { words } from './words.ts'

const rules = ofOne as Rules

/** Invites one person or many, with the same roles. */
export default function AddInvitations() {
  useTitle(words.add)
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const [refused, setRefused] = useState<Refused[]>([])
  const mayGiveRoles = useMay('org.member.write')
  const mayGrant = useMay('user.grant.write')
  const form = useForm({
    opened: { emails: '', organizationRoles: '', grants: '[]', message: '', preferredLanguage: '' },
    rules: { message: rules['message'] ?? [], preferredLanguage: rules['preferredLanguage'] ?? [] },
    async send({ emails = '', organizationRoles: roles = '', grants, message = '', preferredLanguage = '' }, { key }) {
      const asked = addressesOf(emails, rules)
      const same = {
        organizationRoles: linesOf(roles),
        grants: grantsOf(grants).map(({ projectId, roleKeys }) => ({ projectId, roleKeys })),
        message,
        preferredLanguage,
      }
      const request = { invitations: asked.map((email) => ({ email, ...same })) }
      const method = 'roster.users.v1.InvitationService/BulkAddInvitations'
      const { results = [] } = await write(method, request, { organization, key })
      const left = resultsOf(asked, results)
      void readAgain()
      if (asked.length > left.length) say(words.invited(asked.length - left.length))
      setRefused(left)
      if (left.length > 0) {
        // The others are done. What is left stays in the form, to be mended.
        form.set('emails', left.map(({ email }) => email).join('\n'))
        throw new Error(words.refused(left.length))
      }
      navigate(here('/invitations'))
      return undefined
    },
  })
  const labels = {
    emails: words.emails,
    organizationRoles: words.organizationRoles,
    grants: words.projectRoles,
    message: words.message,
    preferredLanguage: words.language,
  }
  return (
    <>
      <div class="head">
        <h1>{words.add}</h1>
      </div>
      <div class="card form">
        <FormView form={form} labels={labels} action={words.add} onCancel={() => navigate(here('/invitations'))}>
          <Area form={form} name="emails" label={words.emails} hint={words.emailsHint} />
          {refused.length > 0 && <RefusedAddresses refused={refused} />}
          {mayGiveRoles && (
            <Checks form={form} name="organizationRoles" label={words.organizationRoles} options={organizationRoles} />
          )}
          {mayGrant && (
            <Grants
              grants={grantsOf(form.values.grants)}
              onChange={(grants) => form.set('grants', JSON.stringify(grants))}
            />
          )}
          <Field form={form} name="message" optional label={words.message} hint={words.messageHint} />
          <Field form={form} name="preferredLanguage" optional label={words.language} hint={words.languageHint} />
        </FormView>
      </div>
    </>
  )
}

function RefusedAddresses({ refused }: { refused: Refused[] }) {
  return (
    <div class="refused">
      <table aria-label={words.results}>
        <thead>
          <tr>
            <th scope="col">{words.email}</th>
            <th scope="col">{words.reason}</th>
          </tr>
        </thead>
        <tbody>
          {refused.map(({ email, why }) => (
            <tr>
              <td>{email}</td>
              <td>{why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
