import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { GrantsApplication } from '#gen/console/api'
import { useHere, useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay } from '../api/queries.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { Menu } from '../pieces/menu.tsx'
import { say, sayProblem } from '../pieces/notices.tsx'
import { common } from '../texts/common.ts'
import { words } from './words.ts'

const service = 'roster.grants.v1.ApplicationService'

/** What one can do with an application as a whole. */
export function Actions({ application }: { application: GrantsApplication }) {
  const [asked, setAsked] = useState<'close' | 'remove'>()
  const organization = useOrganization()
  const here = useHere()
  const [, navigate] = useLocation()
  const { id: appId = '', projectId = '', name = '', state } = application
  const mayWrite = useMay('project.app.write', projectId)
  const act = async (method: 'DeactivateApplication' | 'ReactivateApplication', done: string) => {
    await write(`${service}/${method}`, { projectId, appId }, { organization })
    await readAgain()
    say(done)
  }
  const remove = async () => {
    await write(`${service}/RemoveApplication`, { projectId, appId }, { organization })
    say(words.removed(name))
    navigate(here(`/projects/${encodeURIComponent(projectId)}`))
    void readAgain()
  }
  if (!mayWrite) return null
  return (
    <>
      {state === 'APPLICATION_STATE_INACTIVE' && (
        <button onClick={() => void act('ReactivateApplication', words.openedNow(name)).catch(sayProblem)}>
          {words.open}
        </button>
      )}
      <Menu label={common.more}>
        {state === 'APPLICATION_STATE_ACTIVE' && <button onClick={() => setAsked('close')}>{words.close}</button>}
        <button class="danger" onClick={() => setAsked('remove')}>
          {words.remove}
        </button>
      </Menu>
      {asked === 'close' && (
        <Confirm
          title={words.closeTitle(name)}
          action={words.close}
          act={() => act('DeactivateApplication', words.closedNow(name))}
          onClose={() => setAsked(undefined)}
        >
          {words.closeText}
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm
          title={words.removeTitle(name)}
          action={common.remove}
          name={name}
          act={remove}
          onClose={() => setAsked(undefined)}
        >
          {words.removeText}
        </Confirm>
      )}
    </>
  )
}
