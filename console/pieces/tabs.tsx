import { Link } from 'wouter-preact'

interface TabsProps {
  /** What the tabs are of, for those who hear it. */
  label: string
  /** The path of the first tab; the others lie below it. */
  path: string
  /** Their words by the last segment of their path; '' is the first one. */
  tabs: Record<string, string>
  /** The one that is shown. */
  tab: string
}

/** The parts of a page, each with an address of its own. */
export function Tabs({ label, path, tabs, tab }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {Object.entries(tabs).map(([part, text]) => (
        <Link key={part} href={path + (part && `/${part}`)} aria-current={part === tab ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  )
}
