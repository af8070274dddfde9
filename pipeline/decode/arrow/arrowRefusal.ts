// A refusal of an Arrow file with a text for the user. Every other error of a decoder means damage, and its
// message is not shown.

export class ArrowRefusal extends Error {}
