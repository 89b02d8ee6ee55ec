/** The address of a page of the service's own that has the brand of an organization. */
export function pageLink({ PUBLIC_URL }: { PUBLIC_URL: string }, path: string, organizationId: string): string {
  return new URL(brandedPath(path, organizationId), PUBLIC_URL).href
}

/** The path of a page, with the organization whose brand it has, if there is one. */
export function brandedPath(path: string, organizationId: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...(organizationId !== '' && { organization_id: organizationId }), ...more })
  return query.size === 0 ? path : `${path}?${query.toString()}`
}
