// A refusal of Arrow in words for a person. Every other error of a decoder means damage, and its own
// words stay here.

export class Refused extends Error {}
