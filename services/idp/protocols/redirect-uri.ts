/** Where a provider sends browsers back to: each provider has an address of its own, so that no other one's answer fits. */
export function redirectUriOf(publicUrl: string, idpId: string): string {
  return `${publicUrl}/ui/login/idps/${encodeURIComponent(idpId)}/callback`
}
