import { useEffect } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'

export const base = '/ui/console'

/** What the path of a view says. */
export interface ViewProps {
  params: Record<string, string | undefined>
}

// The organization of the address before, for views of the instance, whose addresses name none.
let last = ''

/** The organization of the address, `/o/{org}/…`. Where it names none, the one of before, else that of the person. */
export function useOrganization(): string {
  const [path] = useLocation()
  return organizationOf(path)
}

/** The organization of a path below the base. */
export function organizationOf(path: string): string {
  const [, found = ''] = /^\/o\/([^/]+)/.exec(path) ?? []
  if (found !== '') last = decode(found)
  return last
}

/** Where the person is at home: there one acts until an address names an organization. */
export function setHome(organization: string): void {
  if (last === '') last = organization
}

/** Decodes a segment of a path. A segment with a malformed escape is returned unchanged. */
export function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Makes paths of the organization's views. */
export function useHere(): (path: string) => string {
  const organization = useOrganization()
  return (path) => `/o/${encodeURIComponent(organization)}${path}`
}

/** Filters, sort and page of a list, as the address has them. What is empty is left out. */
export function useFilters(): [URLSearchParams, (changed: Record<string, string>) => void] {
  const [path, navigate] = useLocation()
  const filters = new URLSearchParams(useSearch())
  const set = (changed: Record<string, string>) => {
    const next = new URLSearchParams(filters)
    // Another filter begins at the first page.
    next.delete('after')
    for (const [name, value] of Object.entries(changed)) {
      next.delete(name)
      if (value !== '') next.set(name, value)
    }
    const text = next.toString()
    navigate(text ? `${path}?${text}` : path, { replace: !('after' in changed), state: { paged: 'after' in changed } })
  }
  return [filters, set]
}

/** The title of the page: that of the view, and of the product. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Roster' : `${title} · Roster`
  }, [title])
}
