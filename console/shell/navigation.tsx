import { Link, useLocation } from 'wouter-preact'
import { usePermissions, useRead } from '../api/queries.ts'
import { useHere, useOrganization } from '../address/place.ts'
import { groups, isOfInstance, type View, views } from './views.ts'
import { words } from './words.ts'

/** The menu: the views whose lists the person may read in this organization. */
export function Navigation() {
  const held = usePermissions()
  const ownsProjects = useOwnsProjects(held)
  const shown = views.filter((view) => {
    const { menu, permission } = view
    const here = isOfInstance(view) ? held?.instancePermissions : held?.permissions
    if (!menu || !here) return false
    return permission === '' || here.includes(permission) || (menu.orOwnProjects === true && ownsProjects)
  })
  return (
    <nav id="navigation" aria-label={words.views} popover="auto">
      <a class="brand" href="/ui/console">
        <span class="mark" aria-hidden="true">
          R
        </span>
        Roster
      </a>
      {Object.entries(groups).map(([group, label]) => (
        <Group key={group} label={label} entries={shown.filter(({ menu }) => menu!.group === group)} />
      ))}
      {held && shown.length < 2 && <p class="soft">{words.noEntry}</p>}
    </nav>
  )
}

// Asked only where no role in the organization shows all of them.
function useOwnsProjects(held: ReturnType<typeof usePermissions>): boolean {
  const organizationId = useOrganization()
  const enabled = held !== undefined && !held.permissions.includes('project.read')
  const method = 'roster.grants.v1.ProjectService/SearchMyProjects'
  const { data } = useRead(method, { organizationId, limit: 1 }, { enabled })
  return (data?.projects ?? []).length > 0
}

function Group({ label, entries }: { label: string; entries: View[] }) {
  const here = useHere()
  const [path] = useLocation()
  if (entries.length === 0) return null
  return (
    <>
      {label !== '' && <div class="group">{label}</div>}
      {entries.map((view) => {
        const { path: own, menu } = view
        // A tab is no part of the entry.
        const list = own.replace(/\/:.*$/, '')
        const href = isOfInstance(view) ? list : here(list)
        const isHere = path === href || (own !== '' && path.startsWith(`${href}/`))
        return (
          <Link
            key={own}
            href={href}
            aria-current={isHere ? 'page' : undefined}
            data-letter={menu!.letter}
            onClick={close}
          >
            {menu!.label}
          </Link>
        )
      })}
    </>
  )
}

// On a narrow screen the menu lies over the page.
function close() {
  const navigation = document.getElementById('navigation')
  if (navigation?.matches(':popover-open')) navigation.hidePopover()
}
