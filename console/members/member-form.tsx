import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import type { GrantsMember } from '#gen/console/api'
import rules from '../../gen/console/rules/roster.grants.v1.AddOrganizationMemberRequest.json'
import { call, write } from '../api/call.ts'
import { readAgain } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { Checks } from '../form/checks.tsx'
import { FormView } from '../form/form.tsx'
import { linesOf } from '../form/merge.ts'
import type { Option } from '../form/picker.tsx'
import type { Rules } from '../form/rules.ts'
import { useForm } from '../form/use-form.ts'
import { usePeople, usePeopleEverywhere } from '../people/pick-person.ts'
import { Dialog } from '../pieces/dialog.tsx'
import { say } from '../pieces/notices.tsx'
import { common } from '../texts/common.ts'
import { ofInstance, type Place } from './place.ts'
import { words } from './words.ts'

const Picker = lazy(() => import('../form/picker.tsx'))

interface MemberFormProps {
  place: Place
  /** Without an id: somebody is to be chosen. */
  member: GrantsMember
  nameOf: (id: string) => string
  onClose: () => void
}

/** Gives somebody roles, or others than before. */
export function MemberForm({ place, member, nameOf, onClose }: MemberFormProps) {
  const organization = useOrganization()
  const [picked, setPicked] = useState<Option>()
  const isNew = member.userId === undefined
  const name = picked?.label ?? nameOf(member.userId ?? '')
  const form = useForm({
    opened: { userId: member.userId ?? '', roles: (member.roles ?? []).join('\n') },
    ...(!isNew && { sequence: member.details?.sequence ?? '' }),
    rules: rules as Rules,
    async send({ roles }, { sequence, key }) {
      const request = { userId: picked?.id ?? member.userId ?? '', roles: linesOf(roles ?? '') }
      const method = isNew ? place.add : place.update
      const { details } = await write(method, request, { organization, sequence, key })
      say(isNew ? words.added(name) : words.changed(name))
      void readAgain()
      onClose()
      return details?.sequence
    },
    ...(!isNew && { theirs: () => theirs(place, member.userId ?? '', organization) }),
  })
  const pick = (option: Option) => {
    setPicked(option)
    form.set('userId', option.id)
  }
  const labels = { userId: words.person, roles: words.roles }
  return (
    <Dialog title={isNew ? words.add : words.changeOf(name)} onClose={onClose}>
      {isNew && (
        <Suspense fallback={null}>
          <Picker
            autofocus
            label={words.person}
            placeholder={words.pick}
            useOptions={place.add === ofInstance.add ? usePeopleEverywhere : usePeople}
            onPick={pick}
          />
        </Suspense>
      )}
      {isNew && (
        <p role="status" class={form.faults['userId'] ? 'fault' : undefined}>
          {picked ? (
            <>
              <b>{picked.label}</b> <small>{picked.note}</small>
            </>
          ) : (
            words.pickFirst
          )}
        </p>
      )}
      <FormView form={form} labels={labels} onCancel={onClose} {...(isNew && { action: common.add })}>
        <Checks form={form} name="roles" label={words.roles} options={place.roles} />
      </FormView>
    </Dialog>
  )
}

async function theirs(place: Place, userId: string, organization: string) {
  const { members = [] } = await call(place.search, { userId }, { organization })
  const { roles = [], details } = members[0] ?? {}
  return {
    values: { userId, roles: roles.join('\n') },
    sequence: details?.sequence ?? '',
    by: '',
    at: details?.changeDate ?? '',
  }
}
