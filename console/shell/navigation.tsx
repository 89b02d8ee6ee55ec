import { Link, useLocation } from 'wouter-preact'
import { useRead } from '../api/queries.ts'
import { useHere } from '../address/place.ts'
import { groups, type View, views } from './views.ts'
import { words } from './words.ts'

/** The menu: the views whose lists the person may read in this organization. */
export function Navigation() {
  const { data } = useRead('roster.grants.v1.UserGrantService/GetMyPermissions', {})
  const permissions = data?.permissions
  const shown = views.filter(({ menu, permission }) => menu && permissions?.includes(permission))
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
      {permissions && shown.length === 0 && <p class="soft">{words.noEntry}</p>}
    </nav>
  )
}

function Group({ label, entries }: { label: string; entries: View[] }) {
  const here = useHere()
  const [path] = useLocation()
  if (entries.length === 0) return null
  return (
    <>
      <div class="group">{label}</div>
      {entries.map(({ path: own, menu }) => {
        const href = here(own)
        const isHere = path === href || path.startsWith(`${href}/`)
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
