import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { GrantsProject } from '#gen/console/api'
import { useHere, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { Menu } from '../pieces/menu.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

/** What one can do with a project as a whole. */
export function Actions({ project }: { project: GrantsProject }) {
  const [asked, setAsked] = useState<'deactivate' | 'remove'>()
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const { id: projectId = '', name = '', state } = project
  const mayWrite = useMay('project.write', projectId)
  const mayRemove = useMay('project.delete', projectId)
  const close = () => setAsked(undefined)
  const act = async (method: 'DeactivateProject' | 'ReactivateProject', done: string) => {
    await write(`roster.grants.v1.ProjectService/${method}`, { projectId }, { organization })
    await readAgain()
    say(done)
  }
  const remove = async () => {
    await write('roster.grants.v1.ProjectService/RemoveProject', { projectId }, { organization })
    say(words.removed(name))
    navigate(here('/projects'))
    void readAgain()
  }
  if (!mayWrite && !mayRemove) return null
  return (
    <>
      {mayWrite && state === 'PROJECT_STATE_INACTIVE' && (
        <button onClick={() => void act('ReactivateProject', words.reactivated(name)).catch(sayProblem)}>
          {words.reactivate}
        </button>
      )}
      <Menu label={common.more}>
        {mayWrite && state === 'PROJECT_STATE_ACTIVE' && (
          <button onClick={() => setAsked('deactivate')}>{words.deactivate}</button>
        )}
        {mayRemove && (
          <button class="danger" onClick={() => setAsked('remove')}>
            {words.remove}
          </button>
        )}
      </Menu>
      {asked === 'deactivate' && (
        <Confirm
          title={words.deactivateTitle(name)}
          action={words.deactivate}
          act={() => act('DeactivateProject', words.deactivated(name))}
          onClose={close}
        >
          {words.deactivateText}
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm title={words.removeTitle(name)} action={common.remove} name={name} act={remove} onClose={close}>
          {words.removeText}
        </Confirm>
      )}
    </>
  )
}
