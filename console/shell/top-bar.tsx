import { useState } from 'preact/hooks'
import { session, signOut } from '../api/session.ts'
import { sayProblem } from '../pieces/notices.tsx'
import { Avatar } from '../pieces/avatar.tsx'
import { Menu } from '../pieces/menu.tsx'
import { choose, language, languages, type Language } from '../texts/texts.ts'
import { OrganizationSwitch } from './organization-switch.tsx'
import { FindDialog } from './find.tsx'
import { words } from './words.ts'

/** The organization, the search over everything, and the person. */
export function TopBar() {
  const [isFinding, setFinding] = useState(false)
  const { displayName = '', loginName = '' } = session.use() ?? {}
  return (
    <header class="top">
      <button class="narrow" popovertarget="navigation" aria-label={words.menu}>
        ☰
      </button>
      <OrganizationSwitch />
      <button class="find" data-key="/" onClick={() => setFinding(true)}>
        <span>{words.find}</span>
        <kbd>/</kbd>
      </button>
      <span class="grow" />
      <Menu label={words.account} face={<Avatar name={displayName} />}>
        <p>
          {displayName}
          <small>{loginName}</small>
        </p>
        <a href="/ui/account">{words.account}</a>
        <button data-key="?" onClick={() => document.dispatchEvent(new Event('roster-help'))}>
          {words.keys} <kbd>?</kbd>
        </button>
        {Object.entries(languages).map(([tag, name]) => (
          <button lang={tag} aria-pressed={tag === language} onClick={() => choose(tag as Language)}>
            {name}
          </button>
        ))}
        <button onClick={() => void signOut().catch(sayProblem)}>{words.signOut}</button>
      </Menu>
      {isFinding && <FindDialog onClose={() => setFinding(false)} />}
    </header>
  )
}
